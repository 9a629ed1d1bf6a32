"""OUT, the folder of a batch: locked, written as results come, and read back by a later run.

Every file is written whole or not at all, so whatever ends the front desk leaves complete files:
the next run finds which of them still hold and grades the rest.
"""

import contextlib
import errno
import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader import report as reports
from grader.bulk import run_record
from grader.bulk.facts import kind_of
from grader.bulk.names import folder_name
from grader.bulk.plan import Job
from grader.bulk.run_record import Conditions
from grader.bulk.tables import suite_erred
from grader.errors import GraderError, UsageProblem
from grader.files import read_json, remove_drafts, replace_file
from grader.model import Submission
from grader.texts import catalog
from grader.texts.reasons import why

LOCK = ".torchgrade.lock"
FAILURES = "failures.log"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC})


class NoRoom(Exception):
    """The disk is full; everything that was written before is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What an earlier run left for one job.

    Args:
        state: `holds`: it need not be graded again; `damaged`: it was there and cannot be read.
    """

    state: Literal["holds", "none", "damaged"]
    staff: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The folder of one batch."""

    folder: Path

    def path(self, view: Literal["reports", "feedback"], job: Job) -> Path:
        return self.folder / view / folder_name(job.student) / job.report_name

    def earlier(self, job: Job, digest: str, under: Conditions) -> Earlier:
        """Whether the reports of an earlier run are those that this job would give.

        A report that has another name by now (a later attempt came in) is put where it belongs.
        """
        own = self.path("reports", job)
        damaged = False
        for name in dict.fromkeys((own.name, *_beside(own, job.assignment))):
            try:
                staff = _report(own.with_name(name))
                student = _report(self.path("feedback", job).with_name(name))
            except (UsageProblem, ValueError):
                damaged = damaged or name == own.name
                continue
            if staff is None or student is None or not _holds(staff, job, digest, under):
                continue
            if student["report_id"] != staff["report_id"]:
                continue
            staff, student = (named(each, job, under.seed) for each in (staff, student))
            self.write(job, staff, student)
            return Earlier(state="holds", staff=staff)
        return Earlier(state="damaged" if damaged else "none")

    def write(self, job: Job, staff: Mapping[str, Any], student: Mapping[str, Any]) -> None:
        """Put both reports in their places. Files that are equal already are left alone.

        Raises:
            NoRoom: the disk is full.
            UsageProblem: the folder cannot be written for another reason.
        """
        # The student's view is a part of the other one; checking both takes as long as a test.
        if problems := reports.validate(staff):
            raise GraderError("\n".join(["the report is not valid:", *problems]))
        # Written first: a report for staff says that both are there.
        self.put(self.path("feedback", job), reports.dumps(student).encode("ascii"))
        self.put(self.path("reports", job), reports.dumps(staff).encode("ascii"))

    def put(self, path: Path, content: bytes) -> None:
        """Put a file into the folder, whole or not at all.

        Raises:
            NoRoom, UsageProblem: as `write`.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                if path.read_bytes() == content:
                    return
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
        except (OSError, UsageProblem) as error:
            raise _trouble(error, path) from error

    def put_run(self, content: Mapping[str, Any]) -> None:
        try:
            run_record.write(content, self.folder)
        except UsageProblem as error:
            raise _trouble(error, self.folder) from error

    def seed(self) -> int | None:
        """The seed of the earlier run, from `run.json` or, if that is damaged, from a report."""
        with contextlib.suppress(UsageProblem, GraderError):
            return int(run_record.read(self.folder)["seed"])
        for path in sorted((self.folder / "reports").glob("*/*.json")):
            with contextlib.suppress(UsageProblem, ValueError):
                found = _report(path)
                if found is not None and found["run"]["seed"] is not None:
                    return int(found["run"]["seed"])
        return None


def _holds(staff: Mapping[str, Any], job: Job, digest: str, under: Conditions) -> bool:
    """Whether grading again would give the same."""
    run, handed_in = staff["run"], staff["submission"]
    level, torch = run["sandbox"]["level"], run["torch"]
    return bool(
        staff["status"] != "grader_failed"
        and not suite_erred(staff)
        and staff["audience"] == "staff"
        and handed_in["student"] == job.student
        and handed_in["sha256"] == job.sha256
        and handed_in["kind"] == kind_of(job.file)
        and staff["assignment"]["id"] == job.assignment
        and staff["assignment"]["digest"] == digest
        and run["seed"] == under.seed
        and run["grader_version"] == under.grader_version
        and run["python"] == under.python
        # Of a file that gave nothing to run, neither PyTorch nor the sandbox decided anything.
        and (torch is None or _same_torch(torch, under.torch))
        and (level is None or under.demanded == "any" or level == under.demanded)
    )


def _same_torch(one: str, other: str) -> bool:
    """`2.13.0+cpu` and `2.13.0`: not every installation writes which build it is."""
    if "+" in one and "+" in other:
        return one == other
    return one.partition("+")[0] == other.partition("+")[0]


def named(report: Mapping[str, Any], job: Job, seed: int) -> dict[str, Any]:
    """The report with what nobody below the front desk knows: student, attempt, file, date."""
    handed_in = Submission(
        file=reports.file_name(job.file),
        kind=kind_of(job.file),
        sha256=job.sha256,
        student=job.student,
        attempt=job.attempt,
    )
    run = reports.Run(
        started_at="",
        duration_s=0,
        seed=seed,
        grader_version=report["run"]["grader_version"],
        python="",
        platform="",
    )
    return {
        **report,
        "report_id": reports.report_id(handed_in, report["assignment"]["digest"], run),
        "submission": {
            **report["submission"],
            "student": job.student,
            "attempt": job.attempt,
            "file": handed_in.file,
            "submitted_at": job.submitted_at,
            "late": job.late,
        },
    }


def _beside(path: Path, assignment: str) -> list[str]:
    if not path.parent.is_dir():
        return []
    found = [each.name for each in path.parent.glob(f"{assignment}.*json")]
    return sorted(found)


def _report(path: Path) -> dict[str, Any] | None:
    """The valid report at `path`, None where there is no file.

    Raises:
        UsageProblem, ValueError: it is damaged.
    """
    if not path.exists():
        return None
    found = read_json(path)
    if not isinstance(found, dict) or "criteria" not in found or reports.validate(found):
        raise ValueError("not a report")
    return found


def _trouble(error: Exception, path: Path) -> Exception:
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _FULL:
        return NoRoom(str(path))
    reason = why(cause if isinstance(cause, Exception) else error)
    return UsageProblem(catalog.text("bulk.cannot_write", folder=str(path), reason=reason))


# --- one process at a time -----------------------------------------------------------------


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[Store]:
    """The folder, made if need be, for this process alone.

    The lock is the operating system's: it ends with the process, however that ends.

    Raises:
        UsageProblem: another process writes there, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _trouble(error, folder) from error
    try:
        if not (_lock(descriptor) and _is_there(descriptor, folder / LOCK)):
            holder = os.pread(descriptor, 200, 0) if hasattr(os, "pread") else b""
            raise UsageProblem(_held(folder, holder))
        os.ftruncate(descriptor, 0)
        owner = {"pid": os.getpid(), "host": socket.gethostname()}
        with contextlib.suppress(OSError):
            os.write(descriptor, json.dumps(owner).encode())
        try:
            # The reports lie two levels down.
            remove_drafts(folder, levels=2)
            yield Store(folder=folder)
        finally:
            # Removed while it is held: whoever has opened it meanwhile sees that it is gone.
            if sys.platform != "win32":
                (folder / LOCK).unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte far behind the text, which others may read.
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        # A file system without locks: better graded without one than not at all.
    return True


def _is_there(descriptor: int, path: Path) -> bool:
    """Whether the locked file is still the one that others will find under this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _held(folder: Path, holder: bytes) -> Any:
    try:
        owner = json.loads(holder)
        pid, host = str(owner["pid"]), str(owner["host"])
    except (ValueError, KeyError, TypeError):
        pid, host = "?", "?"
    return catalog.text("bulk.locked", folder=str(folder), pid=pid, host=host)
