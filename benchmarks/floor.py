"""The floor: what a submission costs if only its own code is run, against what grading it costs.

The suite's calls on the model solution are recorded once. The floor then is: fork a warm zygote,
load the file, make the same calls, end; without tests, scores, reports and lock-down. Against it
stands a judge as a batch has it, up to both finished reports. Both sides run on one core, so that
neither hides work on a second one.
"""

import contextlib
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import classes
from benchmarks.batches import graded
from benchmarks.measuring import Benchmark, Broken, Pair, Row, Wanted, milliseconds, paired
from grader import submission
from grader.assignment import Assignment
from grader.grading import PER_FORK, Judge, Settings
from grader.model import Died, Limits, Observation, Reading, Source
from grader.sandbox.forked import ForkedBench
from grader.sandbox.link import Output
from grader.sandbox.session import Session

BUDGET = 3.0
LAYERS = ("landlock", "seccomp", "namespaces", "uid", "no_new_privs", "capabilities", "undumpable")
# All ways for a suite to reach the submission.
WAYS = ("call", "new", "method", "keep")
# So that each round pays for one fork of the judge.
ROUNDS = PER_FORK
# Those of a batch.
SETTINGS = Settings(time_factor=1.0, per_fork=PER_FORK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of a suite: a method of `Session` with its arguments."""

    way: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def benchmarks() -> Iterator[Benchmark]:
    """One for each assignment."""
    for assignment in classes.known().values():
        yield Benchmark(
            name=f"floor-{assignment.id}",
            about=f"judging the model solution of {assignment.id} against running its calls only",
            run=_measuring(assignment),
        )


def _measuring(assignment: Assignment) -> Callable[[Wanted], Iterator[Row]]:
    def run(wanted: Wanted) -> Iterator[Row]:
        reading = _reference(assignment)
        asked = recorded(assignment)
        with on_one_core(), bench() as bare:

            def floor() -> None:
                _times(ROUNDS, lambda: replay(bare, reading.source, asked))

            with Judge.start(SETTINGS) as judge:
                pair = Pair(
                    name=f"floor-{assignment.id}",
                    budget=BUDGET,
                    measured=lambda: _times(ROUNDS, lambda: _judge(judge, reading, assignment)),
                    yardstick=floor,
                    pairs=10,
                )
                row = paired(pair, wanted, per=ROUNDS)
            yield replace(row, note=f"{len(asked)} calls", figures={"calls": len(asked)})
            yield _batch(assignment, floor, wanted)

    return run


def _batch(assignment: Assignment, floor: Callable[[], None], wanted: Wanted) -> Row:
    """The real command with one job on one core, reports written, against the floor around it."""
    count = 100 if wanted.full else 24
    text = (assignment.folder / "reference.py").read_text("utf-8")
    answer = classes.Answer(name="reference", text=text, score=assignment.max_score)
    folder = wanted.folder / "class"
    classes.written(folder, assignment.id, [answer], count)
    floors_ms = [milliseconds(floor)]
    options = ("--assignment", assignment.id)
    each_s = graded(folder, wanted.folder / "class.out", *options, jobs=1).steady_s
    floors_ms.append(milliseconds(floor))
    floor_ms = statistics.mean(floors_ms) / ROUNDS
    return Row(
        name=f"floor-{assignment.id}-batch",
        budget=BUDGET,
        ratio=each_s * 1000 / floor_ms,
        measured_ms=each_s * 1000,
        yardstick_ms=floor_ms,
        note=f"`grade batch` of {count}, reports written, start-up left out",
    )


def _times(rounds: int, action: Callable[[], object]) -> None:
    for _ in range(rounds):
        action()


def _reference(assignment: Assignment) -> Reading:
    return submission.understand(submission.read(assignment.folder / "reference.py"))


def _judge(judge: Judge, reading: Reading, assignment: Assignment) -> None:
    views = judge.both_views(reading, assignment)
    if views.staff["score"] != views.staff["max_score"]:
        raise Broken(f"{assignment.id}: the model solution earned {views.staff['score']}")


# --- the floor ---------------------------------------------------------------------------------


def recorded(assignment: Assignment) -> tuple[Asked, ...]:
    """What the suite asks of the model solution, in order.

    The suite runs in this process, as `pytest SUITE --submission FILE` does it.
    """
    asked: list[Asked] = []
    suite = assignment.folder / "suite"
    with tempfile.TemporaryDirectory(prefix="recording-") as folder, _listening(asked):
        ini = Path(folder) / "recording.ini"
        ini.write_text("[pytest]\n", "utf-8")
        words = [
            *(str(path) for path in sorted(suite.glob("test_*.py"), reverse=True)),
            f"--submission={assignment.folder / 'reference.py'}",
            f"-c{ini}",
            f"--rootdir={suite}",
            "--import-mode=importlib",
            "--assert=plain",
            *(f"-pno:{name}" for name in ("terminal", "cacheprovider", "capture", "warnings")),
            "-pgrader.suite.plugin",
        ]
        code = pytest.main(words)
    if code != pytest.ExitCode.OK or not asked:
        raise Broken(f"{assignment.id}: the suite ended with {code!r} on the model solution")
    return tuple(asked)


@contextlib.contextmanager
def _listening(asked: list[Asked]) -> Iterator[None]:
    """Note every call of a session's methods; modules of suites are forgotten afterwards."""
    modules = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.delenv("PYTEST_ADDOPTS", raising=False)
        for way in WAYS:
            patch.setattr(Session, way, _noting(way, getattr(Session, way), asked))
        yield
    for name in [each for each in sys.modules if each.startswith("test_")]:
        if name not in modules:
            del sys.modules[name]


def _noting(way: str, original: Callable[..., object], asked: list[Asked]) -> Callable[..., object]:
    def noting(session: Session, *args: Any, **kwargs: Any) -> object:
        asked.append(Asked(way=way, args=args, kwargs=kwargs))
        return original(session, *args, **kwargs)

    return noting


def replay(bare: ForkedBench, source: Source | None, asked: Sequence[Asked]) -> None:
    """A worker from its fork to its end: load, the same calls in the same order.

    Handles are numbered alike in every session, so that recorded ones fit.
    """
    if source is None:
        raise Broken("the model solution cannot be read")
    session = Session(bench=bare, source=source, limits=Limits(), output=Output(64))
    for each in asked:
        seen: Observation | tuple[object, Observation]
        seen = getattr(session, each.way)(*each.args, **each.kwargs)
        if isinstance(seen, Died):
            raise Broken(f"the model solution died: {seen}")
    session.close()


@contextlib.contextmanager
def bench(without: tuple[str, ...] = LAYERS) -> Iterator[ForkedBench]:
    """A warm zygote that leaves these layers of the lock-down out."""
    lifeline, held = os.pipe()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        made = ForkedBench(Path(folder), lifeline, sys.exit, without=without)
        try:
            made.await_ready()
            yield made
        finally:
            made.close()
            os.close(lifeline)
            os.close(held)


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Keep this process, and what it starts meanwhile, on one core."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)
