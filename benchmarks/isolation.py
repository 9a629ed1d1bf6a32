"""What the lock-down of a worker costs: a loop over submissions, with and without it.

Each submission is a worker of its own: fork, lock-down (or none), load, some small tensor calls,
end. Both loops run in turn, one submission after the other, so that a busy machine weighs on both;
the ratio is that of the medians.
"""

import statistics
from collections.abc import Iterator, Sequence

import torch

from benchmarks.floor import bench
from benchmarks.measuring import Benchmark, Row, Wanted, milliseconds
from grader.model import Limits, Piece, Source, Unit
from grader.sandbox.forked import ForkedBench
from grader.sandbox.link import Output
from grader.sandbox.session import Session

BUDGET = 1.15
CALLS = 40
SOURCE = Source(
    kind="module",
    units=(Unit(piece=0),),
    pieces=(
        Piece(
            text="import torch\n"
            "def turned(x):\n"
            "    angles = torch.outer(torch.arange(x.shape[-2]).float(), torch.ones(4))\n"
            "    first, second = x[..., 0::2], x[..., 1::2]\n"
            "    pairs = (first * angles.cos() - second * angles.sin(),\n"
            "             first * angles.sin() + second * angles.cos())\n"
            "    return torch.stack(pairs, -1).flatten(-2)\n"
        ),
    ),
)


def benchmarks() -> Iterator[Benchmark]:
    """One."""
    about = f"submissions with {CALLS} calls each, locked in against not locked in"
    yield Benchmark(name="isolation", about=about, run=_run)


def _run(wanted: Wanted) -> list[Row]:
    submissions = wanted.pairs or (200 if wanted.full else 60)
    with bench(without=()) as locked, bench() as bare:
        isolated_ms, bare_ms = map(statistics.median, _in_turn((locked, bare), submissions))
        layers = list(locked.layers)
    return [
        Row(
            name="isolation",
            ratio=isolated_ms / bare_ms,
            budget=BUDGET,
            measured_ms=isolated_ms,
            yardstick_ms=bare_ms,
            pairs=submissions,
            note=f"{CALLS} calls, {len(layers)} layers",
            figures={"layers": layers},
        )
    ]


def _in_turn(benches: Sequence[ForkedBench], submissions: int) -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(submissions + 5):
        for each, kept in zip(benches, times, strict=True):
            took = milliseconds(lambda one=each: _grade(one))
            # The first ones fill caches.
            if turn >= 5:
                kept.append(took)
    return times


def _grade(each: ForkedBench) -> None:
    session = Session(bench=each, source=SOURCE, limits=Limits(), output=Output(64))
    x = torch.ones(2, 5, 8)
    for _ in range(CALLS):
        session.call("turned", (x,))
    session.close()
