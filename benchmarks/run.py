"""Measures the budgets: what grading costs, as ratios of two things that run in turn.

    python benchmarks/run.py [--only NAME]... [--pairs N] [--json PATH]

A ratio is the median over pairs of neighbouring runs, so that a machine that is busy for a while
weighs on both sides. Figures in milliseconds are medians too; only the ratios are for comparing.
Exit code 1 when a budget is missed.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path

from grader import assignment, submission
from grader.assignment import Assignment
from grader.grading import Judge, Settings
from grader.model import EntryPoint, Reading

ASSIGNMENTS = Path(__file__).resolve().parent.parent / "assignments"
WARM_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two things to compare: what is measured, and what it is measured by."""

    name: str
    budget: float
    measured: Callable[[], object]
    yardstick: Callable[[], object]
    pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table; times in milliseconds."""

    name: str
    budget: float
    ratio: float
    measured_ms: float
    yardstick_ms: float
    pairs: int

    @property
    def kept(self) -> bool:
        return self.ratio <= self.budget


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when every budget that was measured is kept."""
    wanted = _parser().parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder, _all(Path(folder)) as pairs:
        unknown = set(wanted.only) - {pair.name for pair in pairs}
        if unknown:
            print(f"unknown: {', '.join(sorted(unknown))}; there are:", file=sys.stderr)
            print(*(f"  {pair.name}" for pair in pairs), sep="\n", file=sys.stderr)
            return 2
        print(f"{'ratio':>7} {'budget':>7} {'ms':>9} {'of ms':>9}  pairs  what")
        for pair in pairs:
            if wanted.only and pair.name not in wanted.only:
                continue
            rows.append(_measure(replace(pair, pairs=wanted.pairs or pair.pairs)))
            print(_line(rows[-1]), flush=True)
    if wanted.json:
        wanted.json.write_text(json.dumps(_record(rows), indent=2) + "\n", "utf-8")
    return 0 if all(row.kept for row in rows) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the budgets as ratios.")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--pairs", type=int, metavar="N", help="runs of each, for every pair")
    parser.add_argument("--json", type=Path, metavar="PATH")
    return parser


def _measure(pair: Pair) -> Row:
    """Both in turn, the first round thrown away: it fills the file cache."""
    pair.yardstick()
    pair.measured()
    times = []
    for turn in range(pair.pairs):
        if turn % 2:
            first = _milliseconds(pair.measured)
            times.append((first, _milliseconds(pair.yardstick)))
        else:
            second = _milliseconds(pair.yardstick)
            times.append((_milliseconds(pair.measured), second))
    return Row(
        name=pair.name,
        budget=pair.budget,
        ratio=statistics.median(one / other for one, other in times),
        measured_ms=statistics.median(one for one, _ in times),
        yardstick_ms=statistics.median(other for _, other in times),
        pairs=pair.pairs,
    )


def _milliseconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def _line(row: Row) -> str:
    verdict = "" if row.kept else "   MISSED"
    return (
        f"{row.ratio:7.2f} {row.budget:7.2f} {row.measured_ms:9.1f} {row.yardstick_ms:9.1f}"
        f"  {row.pairs:5}  {row.name}{verdict}"
    )


def _record(rows: Sequence[Row]) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "rows": [asdict(row) | {"kept": row.kept} for row in rows],
    }


# --- what is compared ------------------------------------------------------------------------


@contextmanager
def _all(folder: Path) -> Iterator[list[Pair]]:
    """All comparisons; the judge that the warm ones share ends with the context."""
    known = assignment.find_all(ASSIGNMENTS, {})
    files = [(each, *_files(each, folder)) for each in known]
    yardstick_torch = _command(sys.executable, "-c", "import torch")
    yardstick_click = _command(sys.executable, "-c", "import click")
    grade = _grade()
    passing = _command(grade, "check", files[0][1], codes=(0,))
    pairs = [
        _pair("check", 1.5, passing, yardstick_torch, 7),
        _pair("help", 3.0, _command(grade, "--help"), yardstick_click, 15),
        _pair("list", 3.0, _command(grade, "list"), yardstick_click, 15),
    ]
    for each, right, wrong in files:
        good = _command(grade, "check", right, codes=(0,))
        bad = _command(grade, "check", wrong, codes=(1,))
        pairs.append(_pair(f"failing-{each.id}", 1.5, bad, good, 5))
    with Judge.start(Settings()) as judge:
        for each, right, wrong in files:
            good, bad = _graded(judge, each, right, "all"), _graded(judge, each, wrong, "none")
            pairs.append(_pair(f"failing-warm-{each.id}", 1.5, bad, good, 10))
        yield pairs


def _pair(
    name: str,
    budget: float,
    measured: Callable[[], object],
    yardstick: Callable[[], object],
    pairs: int,
) -> Pair:
    return Pair(name=name, budget=budget, measured=measured, yardstick=yardstick, pairs=pairs)


def _grade() -> Path:
    found = shutil.which("grade", path=Path(sys.executable).parent)
    if found is None:
        raise SystemExit(f"there is no `grade` beside {sys.executable}: install the project first")
    return Path(found)


def _command(*words: str | Path, codes: Sequence[int] = (0,)) -> Callable[[], object]:
    """Runs a command to its end; another exit code stops the benchmark."""

    def run() -> None:
        done = subprocess.run(words, capture_output=True, check=False)
        if done.returncode not in codes:
            raise SystemExit(f"{words} ended with {done.returncode}:\n{done.stderr.decode()}")

    return run


def _graded(judge: Judge, each: Assignment, file: Path, expected: str) -> Callable[[], object]:
    """Grades a file some times in the warm judge."""
    reading: Reading = submission.understand(submission.read(file))

    def run() -> None:
        for _ in range(WARM_ROUNDS):
            report = judge.grade(reading, each)
            earned = {"all": report["max_score"], "none": 0}[expected]
            if report["score"] != earned:
                raise SystemExit(f"{file.name}: score {report['score']} instead of {earned}")

    return run


def _files(each: Assignment, folder: Path) -> tuple[Path, Path]:
    """A submission that earns everything, and one of the right shape that earns nothing."""
    right, wrong = folder / f"{each.id}_right.py", folder / f"{each.id}_wrong.py"
    right.write_bytes((each.folder / "reference.py").read_bytes())
    functions = [_wrong(entry) for entry in each.entry_points]
    wrong.write_text("\n\n".join(["import torch", *functions]) + "\n", "utf-8")
    return right, wrong


def _wrong(entry: EntryPoint) -> str:
    value = "12345.0" if entry.result.kind == "number" else "args[0] + 7.0"
    return f"def {entry.name}(*args, **kwargs):\n    return {value}"


if __name__ == "__main__":
    sys.exit(main())
