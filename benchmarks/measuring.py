"""Two things in turn, and the row of the table that comes of it.

A ratio is the median over pairs of neighbouring runs, so that a machine that is busy for a while
weighs on both sides. Figures in milliseconds are medians too; only the ratios are for comparing.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Literal

HEADER = f"{'ratio':>8} {'budget':>8} {'ms':>9} {'of ms':>9} {'pairs':>5}  what"


class Broken(Exception):
    """What was run did not do what it should; a figure of it would say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How thoroughly to measure.

    Args:
        folder: empty, for whatever the benchmark writes.
        full: the large sizes that the budgets are about; else small ones that take seconds.
        pairs: how often each side runs, where the benchmark repeats anything; None: as it likes.
        peers: the Python of an environment with the peers, or None.
    """

    folder: Path
    full: bool = False
    pairs: int | None = None
    peers: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table; times in milliseconds, of what the name says.

    Args:
        measured_ms: None where the ratio is not one of times.
        budget: what the ratio is held against; None where it is only shown.
        sense: which side of the budget is good.
        figures: what else was seen, for the JSON; `note` is its short form for the table.
    """

    name: str
    ratio: float
    measured_ms: float | None = None
    yardstick_ms: float | None = None
    budget: float | None = None
    sense: Literal["at most", "at least"] = "at most"
    pairs: int = 1
    note: str = ""
    figures: Mapping[str, object] = field(default_factory=dict)

    @property
    def kept(self) -> bool:
        if self.budget is None:
            return True
        return self.ratio <= self.budget if self.sense == "at most" else self.ratio >= self.budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A benchmark without a figure, and why: it cannot run here, or it is broken."""

    name: str
    reason: str
    broken: bool = False


Result = Row | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Something that `run.py` can measure."""

    name: str
    about: str
    run: Callable[[Wanted], Iterable[Result]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two things to compare: what is measured, and what it is measured by."""

    name: str
    measured: Callable[[], object]
    yardstick: Callable[[], object]
    budget: float | None = None
    pairs: int = 7


def paired(pair: Pair, wanted: Wanted, *, per: int = 1) -> Row:
    """Both in turn, the first round thrown away: it fills the file cache.

    Args:
        per: how many submissions one run of either side is.
    """
    pair.yardstick()
    pair.measured()
    pairs = wanted.pairs or pair.pairs
    times = []
    for turn in range(pairs):
        if turn % 2:
            first = milliseconds(pair.measured)
            times.append((first, milliseconds(pair.yardstick)))
        else:
            second = milliseconds(pair.yardstick)
            times.append((milliseconds(pair.measured), second))
    return Row(
        name=pair.name,
        budget=pair.budget,
        ratio=statistics.median(one / other for one, other in times),
        measured_ms=statistics.median(one for one, _ in times) / per,
        yardstick_ms=statistics.median(other for _, other in times) / per,
        pairs=pairs,
    )


def milliseconds(action: Callable[[], object]) -> float:
    """How long it took."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def line(result: Result) -> str:
    """A line of the table."""
    if isinstance(result, Skipped):
        return f"{'-':>8} {'-':>8} {'-':>9} {'-':>9} {'-':>5}  {result.name}: {result.reason}"
    budget = "-"
    if result.budget is not None:
        budget = f"{'<=' if result.sense == 'at most' else '>='}{result.budget:g}"
    verdict = "" if result.kept else "   MISSED"
    note = f" ({result.note})" if result.note else ""
    return (
        f"{result.ratio:8.2f} {budget:>8} {_time(result.measured_ms)} {_time(result.yardstick_ms)}"
        f" {result.pairs:5}  {result.name}{note}{verdict}"
    )


def _time(ms: float | None) -> str:
    return f"{'-':>9}" if ms is None else f"{ms:9.1f}"


def record(results: Sequence[Result], *, full: bool) -> dict[str, object]:
    """Everything as JSON."""
    return {
        "python": platform.python_version(),
        "torch": metadata.version("torch").partition("+")[0],
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "full": full,
        "rows": [asdict(each) | {"kept": each.kept} for each in results if isinstance(each, Row)],
        "skipped": [asdict(each) for each in results if isinstance(each, Skipped)],
    }


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
