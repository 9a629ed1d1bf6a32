"""Measures the budgets: what grading costs, as ratios of two things that run in turn.

    python benchmarks/run.py [--only NAME]... [--pairs N] [--full] [--json PATH] [--list]

NAME is a benchmark or the first part of its name: `floor` is all of `floor-hw1` to `floor-hw4`.
Exit code 1 when a budget is missed or a benchmark is broken, 2 when there is no such benchmark.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import (
    commands,
    floor,
    hostile_class,
    isolation,
    preloading,
    reading,
    whole_classes,
)
from benchmarks.measuring import (
    HEADER,
    Benchmark,
    Broken,
    Result,
    Row,
    Skipped,
    Wanted,
    line,
    record,
)
from benchmarks.peers import comparison

SOURCES = (
    commands,
    reading,
    floor,
    isolation,
    preloading,
    whole_classes,
    hostile_class,
    comparison,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when every budget that was measured is kept."""
    typed = _parser().parse_args(arguments)
    known = benchmarks()
    unknown = [each for each in typed.only if not any(named(each, one.name) for one in known)]
    if typed.list or unknown:
        return _listed(known, unknown)
    chosen = [
        one for one in known if not typed.only or any(named(each, one.name) for each in typed.only)
    ]
    results = []
    print(HEADER)
    for result in _measured(chosen, typed):
        results.append(result)
        print(line(result), flush=True)
        if typed.json:
            # After each one, so that a benchmark that is stopped leaves the others.
            told = json.dumps(record(results, full=typed.full), indent=2)
            typed.json.write_text(told + "\n", "utf-8")
    return 0 if all(map(_fine, results)) else 1


def _fine(result: Result) -> bool:
    return result.kept if isinstance(result, Row) else not result.broken


def benchmarks() -> list[Benchmark]:
    """All, in the order in which they run."""
    return [each for source in SOURCES for each in source.benchmarks()]


def named(typed: str, name: str) -> bool:
    """Whether a benchmark's name is the one that was typed, or begins with it."""
    return name == typed or name.startswith(f"{typed}-")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the budgets as ratios.")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--pairs", type=int, metavar="N", help="runs of each, for every pair")
    parser.add_argument("--full", action="store_true", help="the large sizes of the budgets")
    parser.add_argument("--json", type=Path, metavar="PATH")
    parser.add_argument("--list", action="store_true", help="what there is to measure")
    parser.add_argument(
        "--peers", type=Path, metavar="PYTHON", help="of an environment with other graders"
    )
    return parser


def _listed(known: Sequence[Benchmark], unknown: Sequence[str]) -> int:
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are:", file=sys.stderr)
    for each in known:
        print(f"  {each.name:20} {each.about}", file=sys.stderr if unknown else sys.stdout)
    return 2 if unknown else 0


def _measured(chosen: Sequence[Benchmark], typed: argparse.Namespace) -> Iterator[Result]:
    for each in chosen:
        # Everything that a benchmark writes goes when it is through.
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            wanted = Wanted(
                folder=Path(folder), full=typed.full, pairs=typed.pairs, peers=typed.peers
            )
            try:
                yield from each.run(wanted)
            except Broken as error:
                # The others are measured all the same.
                yield Skipped(name=each.name, reason=str(error), broken=True)


if __name__ == "__main__":
    sys.exit(main())
