"""Measures what the lock-down of a worker costs: a loop over 200 submissions, with and without.

    python benchmarks/isolation.py [--submissions N] [--calls N]

Each submission is a worker of its own: fork, lock-down (or none), load, some small tensor calls,
end. Both loops run in turn, one submission after the other, so that a busy machine weighs on both;
the ratio is that of the medians. Exit code 1 when the budget is missed.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from grader.model import Limits, Source, Unit
from grader.sandbox.forked import ForkedBench
from grader.sandbox.link import Output
from grader.sandbox.session import Session

BUDGET = 1.15
LAYERS = ("landlock", "seccomp", "namespaces", "uid", "no_new_privs", "capabilities", "undumpable")
SOURCE = Source(
    kind="module",
    units=(
        Unit(
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


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when the budget is kept."""
    parser = argparse.ArgumentParser(description="Measure what isolation costs.")
    parser.add_argument("--submissions", type=int, default=200, metavar="N")
    parser.add_argument("--calls", type=int, default=40, metavar="N")
    wanted = parser.parse_args(arguments)
    lifeline, held = os.pipe()
    with tempfile.TemporaryDirectory() as locked, tempfile.TemporaryDirectory() as open_:
        benches = [
            ForkedBench(Path(locked), lifeline, sys.exit),
            ForkedBench(Path(open_), lifeline, sys.exit, without=LAYERS),
        ]
        try:
            times = _in_turn(benches, wanted.submissions, wanted.calls)
            print(f"layers: {', '.join(benches[0].layers)}")
            print(f"without: {', '.join(benches[1].layers)}")
        finally:
            for bench in benches:
                bench.close()
    os.close(held)
    isolated, bare = (statistics.median(each) * 1000 for each in times)
    ratio = isolated / bare
    print(f"{wanted.submissions} submissions with {wanted.calls} calls each, medians:")
    print(f"isolated {isolated:.1f} ms, bare {bare:.1f} ms, ratio {ratio:.3f}, budget {BUDGET}")
    return 0 if ratio <= BUDGET else 1


def _in_turn(
    benches: Sequence[ForkedBench], submissions: int, calls: int
) -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(submissions + 5):
        for bench, kept in zip(benches, times, strict=True):
            began = time.perf_counter()
            _grade(bench, calls)
            # The first ones fill caches.
            if turn >= 5:
                kept.append(time.perf_counter() - began)
    return times


def _grade(bench: ForkedBench, calls: int) -> None:
    session = Session(bench=bench, source=SOURCE, limits=Limits(), output=Output(64))
    x = torch.ones(2, 5, 8)
    for _ in range(calls):
        session.call("turned", (x,))
    session.close()


if __name__ == "__main__":
    sys.exit(main())
