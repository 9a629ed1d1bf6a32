"""Constants that are found: which number in a mistake's formula gives the submission's numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.explaining.asking import (
    ATOL,
    RTOL,
    Answers,
    Array,
    Pick,
    Questions,
    in_one_row,
    side_by_side,
)
from grader.explaining.running import Runner, mistakes

# Of the numbers on the first probes so many must be passed in a gap of the grid.
_PASSED: Final = 0.7
# Constants that show whether a mistake is a straight line in its constant; those of the others.
_LINE: Final = (1.0, 2.0, 3.0)
_GRID: Final = tuple(float(each) for each in np.geomspace(1e-2, 1e7, 109))
_HALVINGS: Final = 40
_TRIED: Final = 3


@dataclass(frozen=True, kw_only=True)
class Free:
    """A mistake with a free constant c: `start + slope * c`, or its values on a grid."""

    pick: Pick
    start: Array = None
    slope: Array = None
    grid: Array = None
    values: Array = None


class Fitter:
    """What the mistakes with free constants give; worked out when it is first needed."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._frees: dict[tuple[str, ...], list[Free]] = {}

    def free(self, group: Questions) -> list[Free]:
        """Each mistake with a free constant, and what it gives for some constants."""
        key = tuple(each.probe.id for each in group)
        if key not in self._frees:
            fitted = [Pick(at, each) for at, each in mistakes(self._runner.rule) if each.fits]
            found = (self._scanned(each, group) for each in fitted)
            self._frees[key] = [each for each in found if each is not None]
        return self._frees[key]

    def _scanned(self, pick: Pick, group: Questions) -> Free | None:
        line = [self._with(pick, each, group) for each in _LINE]
        given = [each for each in line if each is not None]
        if len(given) < len(_LINE) or any(each[0] != given[0][0] for each in given):
            return None
        first, second, third = (each[1] for each in given)
        with np.errstate(all="ignore"):
            slope = second - first
            if np.allclose(third - second, slope, rtol=1e-9, atol=1e-9, equal_nan=True):
                return Free(pick=pick, start=first - slope * _LINE[0], slope=slope)
        kept = [(each, self._with(pick, each, group)) for each in _GRID]
        rows = [(each, row[1]) for each, row in kept if row and row[0] == given[0][0]]
        return Free(
            pick=pick,
            grid=np.array([each for each, _ in rows]),
            values=np.stack([value for _, value in rows]),
        )

    def _with(self, pick: Pick, constant: float, group: Questions) -> Answers | None:
        picks = (Pick(pick.step, pick.mistake, constant),)
        if all(each.is_plain for each in group):
            names = self._runner.run(picks, side_by_side(group).arguments, "float64")
            value = None if names is None else self._runner.result(names, group[0])
            if value is None or value.ndim > 1:
                return None
            return ((),) * len(group), np.broadcast_to(value, (len(group),))
        values = [self._runner.give(picks, question) for question in group]
        found = [each for each in values if each is not None]
        return in_one_row(found) if len(found) == len(group) else None

    def constants(self, free: Free, group: Questions, answers: Answers) -> Iterator[float]:
        """The constants that may explain the answers."""
        wanted = answers[1]
        if free.slope is not None:
            if free.slope.shape != wanted.shape:
                return
            sizes = np.nan_to_num(np.abs(free.slope), nan=0.0, posinf=0.0)
            at = int(sizes.argmax())
            if sizes[at] > 0 and np.isfinite(wanted[at]):
                yield float((wanted[at] - free.start[at]) / free.slope[at])
            return
        if free.values.shape[1:] != wanted.shape:
            return
        for at in _brackets(free.values, wanted):
            yield from self._roots(free, group, wanted, at)

    def _roots(self, free: Free, group: Questions, wanted: Array, at: int) -> Iterator[float]:
        """Halve the gap after this place of the grid, looking at the numbers that move most.

        One alone may turn round within the gap, near the top of a sine.
        """
        low, high = (float(each) for each in free.grid[at : at + 2])
        room = ATOL + RTOL * np.abs(wanted)
        first, last = free.values[at : at + 2]
        passed = (np.minimum(first, last) - room <= wanted) & (
            wanted <= np.maximum(first, last) + room
        )
        moved = np.where(passed, np.abs(last - first) / room, 0.0)
        for where in np.argsort(-moved)[:_TRIED]:
            if moved[where] > 1:
                yield self._halved(free.pick, group, (low, high), int(where), wanted[where])

    def _halved(
        self,
        pick: Pick,
        group: Questions,
        ends: tuple[float, float],
        where: int,
        wanted: float,
    ) -> float:
        low, high = ends
        first = self._with(pick, low, group)
        below = first is not None and first[1][where] <= wanted
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            given = self._with(pick, middle, group)
            if given is not None and (given[1][where] <= wanted) == below:
                low = middle
            else:
                high = middle
        return (low + high) / 2


def _brackets(values: Array, wanted: Array) -> list[int]:
    """The gaps of the grid in which most numbers are passed (some turn round within a gap)."""
    low, high = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    room = ATOL + RTOL * np.abs(wanted)
    passed = (low - room <= wanted) & (wanted <= high + room)
    with np.errstate(all="ignore"):
        moving = (high - low > 2 * room).any(axis=1)
    return [int(at) for at in np.flatnonzero((passed.mean(axis=1) >= _PASSED) & moving)]


def plain(value: float) -> float:
    """A fitted constant to four digits, or the whole number that it is next to."""
    whole = round(value)
    if whole and abs(value - whole) <= 1e-3 * abs(whole):
        return float(whole)
    return float(f"{value:.5g}")
