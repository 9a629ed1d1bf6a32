"""A row of warm judges, and what submissions get from them.

Theory of operation. Every judge is a pair of processes (see `grading`) that one thread at a time
talks to; torch is loaded once in each. Jobs for the same suite go out in small chunks, because a
judge that changes the suite has to collect it again. Judges that compute in another way (the CPU
capability) are processes of their own. Nothing here imports torch.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import Any, Final, TypeVar

from grader.assignment import Assignment
from grader.errors import GraderError
from grader.grading import Judge, Settings
from grader.model import Reading
from grader.verifying.records import Marks

NATIVE: Final = ""
_CHUNK: Final = 8
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One answer to be judged on some seeds.

    Args:
        diagnose: look into a loss on the first seed.
        until_lost: stop at the first test and seed on which a point is lost.
        capability: the value of ATEN_CPU_CAPABILITY; empty for this machine's own.
    """

    reading: Reading
    assignment: Assignment
    seeds: tuple[int, ...] = (0,)
    reverse: bool = False
    diagnose: bool = False
    until_lost: bool = False
    capability: str = NATIVE

    @property
    def suite(self) -> tuple[str, str]:
        return self.capability, str(self.assignment.folder)


@dataclass(slots=True, kw_only=True)
class Bench:
    """Judges answers side by side. A context manager: all processes end with it."""

    size: int
    judged: int = 0
    _idle: dict[str, list[Judge]] = field(default_factory=dict)
    _all: list[Judge] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Bench":
        self._threads = ThreadPoolExecutor(self.size, thread_name_prefix="bench")
        for _ in range(self.size):
            # They load torch while files are read here.
            self._idle.setdefault(NATIVE, []).append(self._start(NATIVE))
        return self

    def renew(self) -> None:
        """Replace the judges that have read files which were written anew since."""
        with self._lock:
            stale = [judge for row in self._idle.values() for judge in row]
            self._idle.clear()
        for judge in stale:
            judge.close()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        for judge in self._all:
            judge.close()

    def later(self, work: Callable[[Judge], Result]) -> "Future[Result]":
        """Something that wants a judge for itself, done beside the rest."""
        return self._submit(partial(self._with_judge, work))

    def beside(self, work: Callable[[], Result]) -> "Future[Result]":
        """Something that needs no judge, done beside the rest."""
        return self._submit(work)

    def run(
        self, jobs: Sequence[Job], tick: Callable[[], None] = lambda: None
    ) -> tuple[tuple[Marks, ...], ...]:
        """The marks of every job, one for each seed, in the order of the jobs.

        Args:
            tick: called after each job, from any thread.

        Raises:
            GraderError: a judge failed for a reason that is not the assignment's.
        """
        order = sorted(range(len(jobs)), key=lambda at: _first(jobs[at]))
        chunks: list[list[int]] = []
        for suite, group in groupby(order, key=lambda at: jobs[at].suite):
            members = list(group)
            # One chunk for another capability: a second pair of such processes is not worth it.
            step = _CHUNK if suite[0] == NATIVE else len(members)
            chunks += [members[at : at + step] for at in range(0, len(members), step)]
        found: dict[int, tuple[Marks, ...]] = {}
        futures = [self._submit(partial(self._chunk, part, jobs, tick)) for part in chunks]
        for future in futures:
            found |= future.result()
        return tuple(found[at] for at in range(len(jobs)))

    # --- in the threads --------------------------------------------------------------------

    def _chunk(
        self, members: Sequence[int], jobs: Sequence[Job], tick: Callable[[], None]
    ) -> dict[int, tuple[Marks, ...]]:
        found: dict[int, tuple[Marks, ...]] = {}
        with self._judge(jobs[members[0]].capability) as judge:
            for at in members:
                if self._stopped.is_set():
                    break
                found[at] = _judged(jobs[at], judge)
                with self._lock:
                    self.judged += len(found[at])
                    tick()
        return found

    def _with_judge(self, work: Callable[[Judge], Result]) -> Result:
        with self._judge(NATIVE) as judge:
            return work(judge)

    @contextmanager
    def _judge(self, capability: str) -> Iterator[Judge]:
        with self._lock:
            idle = self._idle.setdefault(capability, [])
            judge = idle.pop() if idle else self._start(capability)
        yield judge
        # After an exception the judge may still be talking: then it is not used again.
        with self._lock:
            idle.append(judge)

    def _start(self, capability: str) -> Judge:
        environment = {"ATEN_CPU_CAPABILITY": capability} if capability else {}
        judge = Judge.start(Settings(audience="staff", environment=environment))
        self._all.append(judge)
        return judge

    def _submit(self, work: Callable[[], Result]) -> "Future[Result]":
        if self._threads is None:
            raise GraderError("the bench is not open")
        return self._threads.submit(work)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _first(job: Job) -> tuple[bool, str]:
    """Other capabilities first: their processes still have to start."""
    return job.capability == NATIVE, str(job.assignment.folder)


def _judged(job: Job, judge: Judge) -> tuple[Marks, ...]:
    marks: list[Marks] = []
    for seed in job.seeds:
        before = len(judge.broken)
        # The probes do not depend on the seed: once is enough.
        diagnose = job.diagnose and seed == job.seeds[0]
        report = judge.grade(
            job.reading,
            job.assignment,
            seed=seed,
            reverse=job.reverse,
            diagnose=diagnose,
            until_lost=job.until_lost,
        )
        broken = judge.broken[before:]
        if broken and broken[0].kind == "grader":
            raise GraderError(broken[0].detail)
        marks.append(_marks(report, seed, broken[0].detail if broken else None))
        if job.until_lost and not marks[-1].complete:
            break
    return tuple(marks)


def _marks(report: dict[str, Any], seed: int, failure: str | None) -> Marks:
    tests = report["tests"]
    run = report["run"]
    usage = run["usage"] or {}
    rest = {key: value for key, value in report.items() if key != "run"}
    return Marks(
        seed=seed,
        points=report["score"],
        decided=report["decided"],
        max_score=report["max_score"],
        earned={each["id"]: each["earned"] for each in report["criteria"]},
        verdicts={each["id"]: each["verdict"] for each in report["criteria"]},
        tests={(each["visibility"], each["id"]): each["verdict"] for each in tests},
        deciding={
            visibility: frozenset(
                each["criterion"] for each in tests if each["visibility"] == visibility
            )
            for visibility in ("shown", "hidden")
        },
        diagnoses=tuple(each["id"] for each in report["diagnoses"]),
        cpu_s=usage.get("cpu_s", 0.0),
        memory_mib=usage.get("peak_memory_mib", 0),
        capability=run["cpu_capability"] or "",
        print=sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest(),
        failure=failure,
    )
