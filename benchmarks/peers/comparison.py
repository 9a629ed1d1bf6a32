"""The same ten tests by other graders, each as its own documentation runs it, and by ours.

A peer is measured over a few submissions, one command for each (nbgrader: one for all, as it is
meant to be used); ours over a class with one job, start-up included. The yardstick of the budget is
the fastest of them: usually a fresh pytest for each submission, which any Python with torch has.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import classes
from benchmarks.batches import Batch, graded
from benchmarks.classes import Answer
from benchmarks.measuring import Benchmark, Broken, Result, Row, Skipped, Wanted, milliseconds
from benchmarks.peers import bundles

BUDGET = 40.0
USUAL = ("step_by_step", "stack_and_flatten", "rotate_every_two", "complex_view")
SET_UP = "no environment with it: see benchmarks/peers/README.md and --peers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another grader.

    Args:
        module: what must be importable where it runs.
        prepare: puts everything but the submissions into an empty folder, and gives back what
            grades them there: how many of the ten tests each passed.
    """

    name: str
    module: str
    prepare: Callable[[Path, Path], Callable[[Sequence[str]], list[int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a submission takes: on the clock, and of processors, all processes together."""

    wall_ms: float
    cpu_ms: float


PEERS = (
    Peer(name="fresh-pytest", module="pytest", prepare=bundles.fresh_pytest),
    Peer(name="gradescope-utils", module="gradescope_utils", prepare=bundles.gradescope),
    Peer(name="check50", module="check50", prepare=bundles.check50),
    Peer(name="otter", module="otter", prepare=bundles.otter),
    Peer(name="nbgrader", module="nbgrader", prepare=bundles.nbgrader),
)


def benchmarks() -> Iterator[Benchmark]:
    """One, with a row for each peer."""
    about = "other graders on the same ten tests against ours, start-up included"
    yield Benchmark(name="peers", about=about, run=_run)


def _run(wanted: Wanted) -> Iterator[Result]:
    ours = _ours(wanted)
    mine = Cost(
        wall_ms=ours.wall_s / ours.submissions * 1000, cpu_ms=ours.cpu_s / ours.submissions * 1000
    )
    times: dict[str, Cost] = {}
    for peer in PEERS:
        python = wanted.peers or (Path(sys.executable) if peer.name == "fresh-pytest" else None)
        if python is None or not _importable(python, peer.module):
            yield Skipped(name=f"peers-{peer.name}", reason=SET_UP)
            continue
        try:
            times[peer.name] = _cost(peer, python, wanted)
        except bundles.NotGraded as error:
            yield Skipped(name=f"peers-{peer.name}", reason=str(error))
            continue
        yield _row(f"peers-{peer.name}", times[peer.name], mine, None, "against ours")
    if times:
        fastest = min(times, key=lambda name: times[name].wall_ms)
        note = f"{fastest}, against ours over {ours.submissions} submissions"
        yield _row("peers-fastest", times[fastest], mine, BUDGET, note)


def _row(name: str, peer: Cost, mine: Cost, budget: float | None, note: str) -> Row:
    by_cpu = peer.cpu_ms / mine.cpu_ms
    return Row(
        name=name,
        ratio=peer.wall_ms / mine.wall_ms,
        budget=budget,
        sense="at least",
        measured_ms=peer.wall_ms,
        yardstick_ms=mine.wall_ms,
        note=f"{note}; by processor time {by_cpu:.1f}",
        figures={"cpu_ms": peer.cpu_ms, "ours_cpu_ms": mine.cpu_ms, "by_cpu": by_cpu},
    )


def _answers() -> tuple[Answer, ...]:
    """Right ones, in the usual styles."""
    return tuple(each for each in classes.accepted(classes.known()["hw4"]) if each.name in USUAL)


def _cost(peer: Peer, python: Path, wanted: Wanted) -> Cost:
    """What each submission takes.

    Raises:
        NotGraded: it does not work here, or does not find the right answers right.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{peer.name}-", dir=wanted.folder))
    texts = [each.text for each in _answers()]
    texts = texts[: wanted.pairs or (5 if wanted.full else 2)]
    grade = peer.prepare(folder, python)
    passed: list[int] = []
    before_s = _cpu_s()
    took_ms = milliseconds(lambda: passed.extend(grade(texts)))
    cpu_ms = (_cpu_s() - before_s) * 1000
    if passed != [10] * len(texts):
        raise bundles.NotGraded(f"it found {passed} of 10 tests passed")
    return Cost(wall_ms=took_ms / len(texts), cpu_ms=cpu_ms / len(texts))


def _cpu_s() -> float:
    """Of all processes that have ended below this one."""
    used = os.times()
    return used.children_user + used.children_system


def _ours(wanted: Wanted) -> Batch:
    course = wanted.folder / "course"
    bundles.ours(course / "ten")
    count = 500 if wanted.full else 60
    classes.written(wanted.folder / "class", "ten", _answers(), count)
    out = wanted.folder / "class.out"
    options = ("--assignments", course, "--assignment", "ten")
    batch = graded(wanted.folder / "class", out, *options, jobs=1)
    if lost := [name for name, score in classes.scores(out).items() if score != 10]:
        raise Broken(f"ours found {len(lost)} right answers wrong")
    return batch


def _importable(python: Path, module: str) -> bool:
    tried = [str(python), "-c", f"import {module}, torch"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0
