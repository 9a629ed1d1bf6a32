"""What it costs to read in a process that may die: a class read there, and read here.

In a batch each file is read twice: once for the plan, and once to be graded. Both ways take the
same files in turn, so that a busy machine weighs on both. The reader's start is left out: there is
one for each job, and it starts while PyTorch is being loaded.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import classes
from benchmarks.measuring import Benchmark, Broken, Row, Wanted
from grader import submission
from grader.bulk.archive_reader import ArchiveReader
from grader.bulk.archives import Locator, Shelf
from grader.bulk.facts import Facts, Known, digest
from grader.model import OpenedFile, Reading, Submission

ID = "hw1"
# Milliseconds that a submission may cost more.
BUDGET_MS = 3.0

Way = Callable[[Path], tuple[Facts, Reading]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one submission, in milliseconds; processor time of all that took part."""

    wall: float
    cpu: float


def benchmarks() -> Iterator[Benchmark]:
    """One."""
    about = "a submission read twice in a process that may die, against in the asker's own"
    yield Benchmark(name="reading", about=about, run=_run)


def _run(wanted: Wanted) -> list[Row]:
    count = wanted.pairs or (500 if wanted.full else 100)
    answers = classes.gallery(classes.known()[ID])
    form = classes.notebook
    classes.written(wanted.folder / "scripts", ID, answers, count // 2)
    classes.written(wanted.folder / "notebooks", ID, answers, count - count // 2, form, ".ipynb")
    files = [each for each in sorted(wanted.folder.rglob("*")) if each.is_file()]
    with closing(ArchiveReader()) as reader, closing(Shelf()) as shelf:
        bounded, here = _in_turn(files, _there(reader), _here(shelf))
    return [
        _row("reading", "wall", bounded, here),
        _row("reading-cpu", "cpu", bounded, here),
    ]


def _there(reader: ArchiveReader) -> Way:
    known = [Known.of(each) for each in classes.known().values()]
    names = frozenset(name for each in known for name in each.entry_points)

    def read(path: Path) -> tuple[Facts, Reading]:
        locator = Locator(path=str(path))
        facts = reader.facts(locator, path.name, None, known)
        return facts, reader.understand(locator, _handed_in(path, facts.sha256), names)

    return read


def _here(shelf: Shelf) -> Way:
    known = [Known.of(each) for each in classes.known().values()]
    names = frozenset(name for each in known for name in each.entry_points)

    def read(path: Path) -> tuple[Facts, Reading]:
        locator = Locator(path=str(path))
        facts = shelf.facts(locator, path.name, None, known)
        content = shelf.read(locator)
        handed_in = _handed_in(path, digest(content))
        opened = OpenedFile(submission=handed_in, content=content)
        return facts, submission.understand(opened, names=names)

    return read


def _handed_in(path: Path, sha256: str) -> Submission:
    kind = "notebook" if path.suffix == ".ipynb" else "module"
    return Submission(file=f"submission{path.suffix}", kind=kind, sha256=sha256)  # type: ignore[arg-type]


def _in_turn(files: list[Path], bounded: Way, here: Way) -> tuple[list[Cost], list[Cost]]:
    there, own = [], []
    # The first one starts the process, and imports what is only imported where it is used.
    bounded(files[0]), here(files[0])
    bounded(files[-1]), here(files[-1])
    for at, path in enumerate(files):
        ways = ((bounded, there), (here, own))
        seen = []
        for way, costs in ways if at % 2 else reversed(ways):
            cost, found = _cost(way, path)
            costs.append(cost)
            seen.append(found)
        if seen[0] != seen[1]:
            raise Broken(f"{path.name} of {path.parent.name} is read in two ways")
    return there, own


def _cost(way: Way, path: Path) -> tuple[Cost, tuple[Facts, Reading]]:
    cpu, began = _cpu_s(), time.perf_counter()
    found = way(path)
    wall = time.perf_counter() - began
    return Cost(wall=wall * 1000, cpu=(_cpu_s() - cpu) * 1000), found


def _cpu_s() -> float:
    """Processor time of this process and the reader."""
    return time.process_time() + sum(
        each.cpu_times().user + each.cpu_times().system for each in psutil.Process().children()
    )


def _row(name: str, what: str, bounded: list[Cost], here: list[Cost]) -> Row:
    # Means of processor time, of which the kernel tells whole hundredths of a second only.
    middle = statistics.mean if what == "cpu" else statistics.median
    measured = middle(getattr(each, what) for each in bounded)
    yardstick = middle(getattr(each, what) for each in here)
    return Row(
        name=name,
        ratio=measured - yardstick,
        budget=BUDGET_MS,
        measured_ms=measured,
        yardstick_ms=yardstick,
        pairs=len(here),
        note="the ratio is the milliseconds that it costs more",
    )
