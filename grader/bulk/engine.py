"""Grading on this machine: N threads, each with a judge of its own.

Theory of operation. The threads do little but wait: each starts a reader and a judge (processes;
the judge has its own zygote and workers), takes the next job in the plan's order, has the file
read, sends what was read to the judge, and hands the two reports to the caller, who alone writes
them. All threads walk through the plan together, so that a judge changes its suite once for each
assignment. A judge is told code, suite and seed; who handed in what is filled in by the caller
afterwards.

`grade_one` is the whole of it and knows no thread, queue or file: another scheduler calls the same.
"""

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.assignment import Assignment
from grader.bulk.archive_reader import ArchiveReader
from grader.bulk.archives import Locator
from grader.bulk.plan import Job
from grader.grading import Judge, Settings
from grader.judged import Views
from grader.model import Kind, OpenedFile, Reading, Submission
from grader.reader.client import Reason, unread
from grader.sandbox import private, tasks

# What failed after longer than this did not meet a passing shortage, and is not tried again.
SHORT_S = 120.0
UNREAD = "cannot be read: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What has to be known to grade a job elsewhere: no student, no file name, no date.

    Args:
        unread: why reading the file was given up; then there are no bytes.
    """

    assignment: str
    opened: OpenedFile
    unread: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Both reports, still without a student.

    Args:
        failure: what went wrong on our side, for staff.
    """

    views: Views
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """There is no report: the file could not be read any more, or nobody knows why."""

    failure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """There is no report, because the sandbox is weaker than demanded: nothing was run."""

    level: str
    layers: tuple[str, ...]


def grade_one(
    reading: Reading,
    assignment: Assignment,
    judge: Judge,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> Result | Refused:
    """The reports on one submission; what broke a judge is tried once more in a fresh one.

    Args:
        stopped: whether nobody waits for the result any more.
    """
    before = len(judge.broken)
    views = judge.both_views(reading, assignment)
    # The course's own files will not be better in another judge.
    if len(judge.broken) > before and judge.broken[-1].kind == "grader" and not stopped():
        judge.close()
        views = judge.both_views(reading, assignment)
    if len(judge.broken) > before and judge.broken[-1].kind == "reduced":
        return Refused(level=judge.broken[-1].detail, layers=judge.broken[-1].layers)
    failed = views.staff["status"] == "grader_failed"
    erred = [each for each in views.staff["tests"] or () if each["verdict"] == "errored"]
    failure = judge.broken[-1].detail if failed else None
    if not failed and erred:
        failure = "\n".join(f"{each['id']}: {each['detail']}" for each in erred)
    return Result(views=views, failure=failure)


def handed_in(job: Job) -> Submission:
    """What the job's file is called below the front desk: nothing personal but the code itself."""
    suffix = ".ipynb" if job.file.lower().endswith(".ipynb") else ".py"
    kind: Kind = "notebook" if suffix == ".ipynb" else "module"
    return Submission(file=f"submission{suffix}", kind=kind, sha256=job.sha256)


def entry_points(assignments: Mapping[str, Assignment]) -> frozenset[str]:
    """The functions of all known assignments."""
    return frozenset(entry.name for each in assignments.values() for entry in each.entry_points)


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """How to grade here.

    Args:
        jobs: how many judges work at a time.
        locate: where the file of a job is.
    """

    settings: Settings
    assignments: Mapping[str, Assignment]
    jobs: int
    locate: Callable[[Job], Locator]

    def run(
        self, planned: Sequence[Job]
    ) -> Generator[tuple[Job, Result | Lost | Refused], None, None]:
        """Each job with its result, as they come. Closing the generator ends every process."""
        # Also when nothing is left to grade: the run that left them may have been the last but one.
        private.remove_left()
        if not planned:
            return
        crew = _Crew(self, iter(planned))
        crew.start()
        try:
            while (found := crew.results.get()) is not None:
                yield found
        finally:
            crew.stop()


class _Crew:
    """The threads, each with a reader and a judge."""

    def __init__(self, local: Local, todo: Iterator[Job]) -> None:
        self.local = local
        self.todo = todo
        self.lock = threading.Lock()
        self.ended = threading.Event()
        # Bounded, so that a slow disk holds up the judges and not the memory.
        self.results: queue.Queue[tuple[Job, Result | Lost | Refused] | None] = queue.Queue(
            2 * local.jobs
        )
        self.names = entry_points(local.assignments)
        self.pairs = [(ArchiveReader(), Judge(settings=local.settings)) for _ in range(local.jobs)]
        self.threads = [
            threading.Thread(target=self._work, args=pair, daemon=True) for pair in self.pairs
        ]
        self.working = len(self.threads)

    def start(self) -> None:
        for thread in self.threads:
            tasks.started(thread.start)

    def stop(self) -> None:
        """End every process, whatever it is doing, and wait for the threads."""
        self.ended.set()
        for pair in self.pairs:
            for each in pair:
                each.close()
        while any(thread.is_alive() for thread in self.threads):
            # Whoever waits to hand over a result must get rid of it.
            try:
                self.results.get(timeout=0.05)
            except queue.Empty:
                continue

    def _work(self, files: ArchiveReader, judge: Judge) -> None:
        # What failed on our side is tried again when the others are done: what was short then (of
        # processes, of memory), perhaps because of a neighbour, may be there now.
        again: list[Job] = []
        try:
            while not self.ended.is_set() and (job := self._next()) is not None:
                began = time.monotonic()
                found = self._graded(job, files, judge)
                if _is_ours(found, judge) and time.monotonic() - began < SHORT_S:
                    again.append(job)
                elif not self.ended.is_set():
                    self.results.put((job, found))
            for job in again:
                if not self.ended.is_set():
                    self.results.put((job, self._graded(job, files, judge)))
        finally:
            files.close()
            judge.close()
            with self.lock:
                self.working -= 1
                last = self.working == 0
            if last and not self.ended.is_set():
                self.results.put(None)

    def _next(self) -> Job | None:
        with self.lock:
            return next(self.todo, None)

    def _graded(self, job: Job, files: ArchiveReader, judge: Judge) -> Result | Lost | Refused:
        assignment = self.local.assignments[job.assignment]
        try:
            reading = self._read(job, files)
            return grade_one(reading, assignment, judge, stopped=self.ended.is_set)
        except OSError as error:
            return Lost(failure=f"{UNREAD}{error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - one submission must not stop the rest
            judge.close()
            return Lost(failure=repr(error))

    def _read(self, job: Job, files: ArchiveReader) -> Reading:
        if job.unread is not None:
            return unread(handed_in(job), job.unread)
        return files.understand(self.local.locate(job), handed_in(job), self.names)


def _is_ours(found: Result | Lost | Refused, judge: Judge) -> bool:
    """Whether the grader failed, and no file of the submission or of the course did."""
    match found:
        case Result(views=views) if views.staff["status"] == "grader_failed":
            return bool(judge.broken) and judge.broken[-1].kind in ("grader", "twice")
        case Lost():
            return not found.failure.startswith(UNREAD)
    return False
