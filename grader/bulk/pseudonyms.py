"""Names that stand for students: keyed hashes, and the one file that leads back.

HMAC-SHA256 under a secret key: without it nobody can try out the few thousand ids of a
university, as a plain hash would let them.
"""

import csv
import hmac
import io
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from grader.bulk.plan import Job, Left, Person, Plan
from grader.errors import GraderError, UsageProblem
from grader.files import replace_file
from grader.texts import catalog
from grader.texts.reasons import why

LEAST_BYTES: Final = 16


def key(path: Path) -> tuple[bytes, bool]:
    """The key in a file, and whether it was made just now (mode 600).

    Raises:
        UsageProblem: it is too short, or cannot be read or made.
    """
    try:
        if not path.exists():
            _private(path, (secrets.token_hex(32) + "\n").encode())
            return path.read_bytes().strip(), True
        found = path.read_bytes().strip()
    except OSError as error:
        reason = why(error)
        text = catalog.text("bulk.key_unreadable", file=str(path), reason=reason)
        raise UsageProblem(text) from error
    if len(found) < LEAST_BYTES:
        raise UsageProblem(catalog.text("bulk.key_short", file=str(path), bytes=LEAST_BYTES))
    return found, False


def fingerprint(key: bytes) -> str:
    """Tells two keys apart and says nothing about either."""
    return hmac.digest(key, b"torchgrade fingerprint", "sha256").hex()[:16]


def pseudonym(key: bytes, student: str) -> str:
    """`s-0123456789abcdef`: 64 bits, so that no two students of a million share one."""
    return f"s-{hmac.digest(key, b'student ' + student.encode(), 'sha256').hex()[:16]}"


def hide(plan: Plan, key: bytes) -> Plan:
    """The plan without a name, id or path of anybody."""
    names = {each.student: pseudonym(key, each.student) for each in plan.people}
    if len(set(names.values())) < len(names):
        raise GraderError("two students got the same pseudonym")
    jobs = [replace(job, student=names[job.student], file=_plain(job)) for job in plan.jobs]
    return replace(
        plan,
        # The order must not lead back to the alphabet of the class.
        jobs=tuple(sorted(jobs, key=_position(plan))),
        people=tuple(sorted((Person(student=each) for each in names.values()), key=_by_student)),
        left=tuple(Left(file="", reason=each.reason) for each in plan.left),
        aside=tuple(Left(file="", reason=each.reason) for each in plan.aside),
        absent=tuple(sorted((names[student], id_) for student, id_ in plan.absent)),
        ungraded=tuple(
            sorted(
                (replace(each, student=names[each.student], files=()) for each in plan.ungraded),
                key=lambda each: (each.student, each.assignment),
            )
        ),
        strangers=tuple(
            replace(each, student=names[each.student], alike=each.alike and names[each.alike])
            for each in plan.strangers
        ),
        substituted=tuple(sorted(names[each] for each in plan.substituted)),
        duplicates=tuple(
            replace(each, students=tuple(sorted(names[one] for one in each.students)))
            for each in plan.duplicates
        ),
    )


def write_table(plan: Plan, key: bytes, path: Path) -> None:
    """The way back, for whoever holds this file: pseudonym, student, name, files; mode 600."""
    files: dict[str, list[str]] = {}
    for job in plan.jobs:
        files.setdefault(job.student, []).append(job.file)
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(["pseudonym", "student", "name", "files"])
    for each in plan.people:
        mine = "\n".join(files.get(each.student, []))
        table.writerow([pseudonym(key, each.student), each.student, each.name or "", mine])
    content = b"\xef\xbb\xbf" + written.getvalue().encode("utf-8", "replace")
    if not path.exists():
        _private(path, b"")
    path.chmod(0o600)
    mask = os.umask(0o177)
    try:
        replace_file(path, content)
    finally:
        os.umask(mask)


def _private(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def _plain(job: Job) -> str:
    suffix = ".ipynb" if job.file.lower().endswith(".ipynb") else ".py"
    return f"submission{suffix}"


def _position(plan: Plan) -> Callable[[Job], tuple[int, bool, str, int]]:
    order = {id_: at for at, id_ in enumerate(dict.fromkeys(job.assignment for job in plan.jobs))}
    return lambda job: (order[job.assignment], not job.counts, job.student, job.attempt)


def _by_student(person: Person) -> str:
    return person.student
