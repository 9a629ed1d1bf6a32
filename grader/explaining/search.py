"""Which mistakes in a rule give a submission's numbers: one, one with a fitted constant, or two.

Every explanation is tried, none is guessed: it must give all numbers of every probe that the
submission answers. What a rule's mistakes give does not depend on the submission, so it is worked
out once, on one probe, for all of them; only what agrees there is looked at on the other probes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch

from grader.explaining import numbers
from grader.explaining.grammar import CONSTANT, names
from grader.explaining.rules import Mistake, Rule
from grader.model import Probe

Array = Any

# As in `diagnosis`: what separates float32 rounding from another answer.
ATOL, RTOL = 3e-4, 2e-4
HALF: Final = ("float16", "bfloat16")
# Of the numbers on the first probe so many must agree before the others are looked at.
_AGREEING: Final = 0.5
_PASSED: Final = 0.7
_SOLID: Final = 0.5
# Answered by a submission at least: probes, and numbers.
_LEAST_PROBES, _LEAST_NUMBERS, _ALONE = 2, 3, 24
_ENOUGH: Final = 12
# Constants that show whether a mistake is a straight line in its constant; those of the others.
_LINE: Final = (1.0, 2.0, 3.0)
_GRID: Final = tuple(float(each) for each in np.geomspace(1e-2, 1e7, 109))
_HALVINGS: Final = 40
_TRIED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A probe and its arguments."""

    probe: Probe
    arguments: Mapping[str, object]
    first: Mapping[str, object]

    @property
    def is_plain(self) -> bool:
        """Whether it is one call with plain numbers."""
        numbers = all(isinstance(each, int | float) for each in self.arguments.values())
        return numbers and not self.probe.twice


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """A mistake, with its constant, at the step of this number."""

    step: int
    mistake: Mistake
    constant: float | None = None


Picks = tuple[Pick, ...]
Questions = tuple[Question, ...]
# The shapes of some answers, and all their numbers in one row.
Answers = tuple[tuple[tuple[int, ...], ...], Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A submission's answer, and whether it is compared to the last bit."""

    value: Array
    exact: bool = False


@dataclass(kw_only=True)
class Explainer:
    """The explanations of one function; tables are made when they are first needed.

    Args:
        questions: the function's probes; those in half precision say nothing about a rule.
        right: the right numbers, by probe.
    """

    rule: Rule
    questions: Sequence[Question]
    right: Mapping[str, Array]
    _tables: dict[tuple[object, ...], "Table"] = field(default_factory=dict)
    _frees: dict[tuple[str, ...], list["Free"]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._picks = _picks(self.rule)
        self._needs = _needs(self.rule)
        self._formulas: list[dict[int | None, numbers.Formula]] = []
        for at, step in enumerate(self.rule.steps):
            earlier = {each.name: _label(place) for place, each in enumerate(self.rule.steps[:at])}
            self._formulas.append({None: numbers.compiled(step.right, earlier)})
            for each in step.mistakes:
                if each.formula is not None:
                    self._formulas[at][id(each)] = numbers.compiled(each.formula, earlier)
        self._dependents = [
            [later for later, needed in enumerate(self._needs) if at in needed and later > at]
            for at in range(len(self.rule.steps))
        ]

    def warm(self) -> None:
        """Make the tables of the first probes, which most submissions answer."""
        group = self._group(
            {each.probe.id: Seen(value=self.right[each.probe.id]) for each in self.questions}
        )
        if group is not None:
            self._table(group, 1)
            self._table(group, 2)

    def one(self, seen: Mapping[str, Seen], told: Collection[str] = ()) -> Picks | None:
        """The one mistake that gives these numbers, with a fitted constant if need be.

        Args:
            told: the ids of mistakes that another function shows; one of them that explains this
                one, too, is the simplest explanation.
        """
        return self._listed(seen, 1, told) or self._fitted(seen)

    def two(self, seen: Mapping[str, Seen]) -> Picks | None:
        """The two mistakes that give these numbers together."""
        return self._listed(seen, 2)

    # --- listed explanations ----------------------------------------------------------------

    def _listed(
        self, seen: Mapping[str, Seen], size: int, told: Collection[str] = ()
    ) -> Picks | None:
        group = self._group(seen)
        if group is None:
            return None
        shapes, values = _answers(group, seen)
        near = [*self._table(group, size).near(shapes, values)]
        if told:
            near.sort(key=lambda picks: picks[0].mistake.id not in told)
        return next((picks for picks in near if self.explains(picks, seen)), None)

    def _group(self, seen: Mapping[str, Seen]) -> Questions | None:
        """The first probes with an answer, until there are numbers enough; None: too few of all."""
        answered = [
            (each, seen[each.probe.id].value) for each in self.questions if each.probe.id in seen
        ]
        total = sum(value.size for _, value in answered)
        if total < (_LEAST_NUMBERS if len(answered) >= _LEAST_PROBES else _ALONE):
            return None
        group: list[Question] = []
        count = 0
        for question, value in answered:
            if count < _ENOUGH:
                group.append(question)
                count += value.size
        return tuple(group)

    def _table(self, group: Questions, size: int) -> "Table":
        key = (*(each.probe.id for each in group), size)
        if key not in self._tables:
            # One row for each explanation, in the order in which they are told.
            rows = self._rows(group, size)
            self._tables[key] = Table((each, rows[each]) for each in sorted(rows, key=_weight))
        return self._tables[key]

    def _rows(self, group: Questions, size: int) -> dict[Picks, Answers]:
        """What all explanations of this size give on these probes."""
        if all(each.is_plain for each in group):
            found = self._sweep(_side_by_side(group), size)
            count, shapes = len(group), ((),) * len(group)
            return {
                picks: (shapes, np.broadcast_to(value, (count,)))
                for picks, value in found.items()
                if value.ndim <= 1
            }
        parts = [self._sweep(question, size) for question in group]
        return {
            picks: _in_one_row([part[picks] for part in parts])
            for picks in parts[0]
            if all(picks in part for part in parts)
        }

    def _sweep(self, question: Question, size: int) -> dict[Picks, Array]:
        """All explanations on one probe; of each pair only what its later step changes is computed.

        With all steps for each of thousands of pairs it would take several times as long.
        """
        found: dict[Picks, Array] = {}
        picks = self._picks
        with np.errstate(all="ignore"):
            start = self._run((), question.arguments, "float64")
            for one in picks:
                names = self._redone(start, one)
                if size == 1 and names is not None:
                    found[(one,)] = self._result(names, question)
                for other in picks if size == 2 and names is not None else ():
                    if other.step > one.step:
                        both = self._redone(names, other)
                        if both is not None:
                            found[one, other] = self._result(both, question)
        return found

    def _redone(self, names: Mapping[str, Any] | None, pick: Pick) -> dict[str, Any] | None:
        """A run with one more mistake, later than those in it: what depends on it is made anew."""
        if names is None:
            return None
        changed = dict(names)
        if pick.mistake.formula is None:
            return changed
        try:
            changed[CONSTANT] = pick.constant
            made = self._formulas[pick.step][id(pick.mistake)](changed)
            changed[_label(pick.step)] = made
            for at in self._dependents[pick.step]:
                changed[_label(at)] = self._formulas[at][None](changed)
        except numbers.UNFIT:
            return None
        return changed

    def _run(
        self, picks: Picks, arguments: Mapping[str, object], dtype: str
    ) -> dict[str, Any] | None:
        """All names of the rule with these mistakes; None where its formulas do not fit."""
        names: dict[str, Any] = {key: _array(each, dtype) for key, each in arguments.items()}
        chosen = {each.step: each for each in picks if each.mistake.formula is not None}
        try:
            with np.errstate(all="ignore"):
                for at, formulas in enumerate(self._formulas):
                    pick = chosen.get(at)
                    names[CONSTANT] = None if pick is None else pick.constant
                    value = formulas[None if pick is None else id(pick.mistake)](names)
                    names[_label(at)] = value if dtype == "float64" else np.asarray(value, dtype)
        except numbers.UNFIT:
            return None
        return names

    def _result(self, names: Mapping[str, Any], question: Question) -> Array:
        result = np.asarray(names[_label(len(self.rule.steps) - 1)], dtype=np.float64)
        if question.probe.last_rows is not None and result.ndim > 1:
            return result[..., -question.probe.last_rows :, :]
        return result

    def explains(self, picks: Picks, seen: Mapping[str, Seen]) -> bool:
        """Whether these mistakes give every number that was answered, and not the right ones."""
        differs, solid, total = False, 0, 0
        for question in self.questions:
            answer = seen.get(question.probe.id)
            if answer is None:
                continue
            given = self.give(picks, question)
            if given is None or given.shape != answer.value.shape:
                return False
            agreeing = _agreeing(answer, given)
            # Where float32 itself is lost (the sine of a huge angle), no digit says anything.
            lost = _lost(given, self.give(picks, question, dtype="float32"))
            if not (agreeing | (lost & (not answer.exact))).all():
                return False
            solid, total = solid + int((~lost).sum()), total + lost.size
            right = Seen(value=self.right[question.probe.id], exact=answer.exact)
            differs = differs or (
                right.value.shape != given.shape or not _agreeing(right, given).all()
            )
        return differs and solid >= _SOLID * total

    # --- fitted constants ---------------------------------------------------------------------

    def _fitted(self, seen: Mapping[str, Seen]) -> Picks | None:
        group = self._group(seen)
        if group is None:
            return None
        answers = _answers(group, seen)
        for free in self._free(group):
            for constant in self._constants(free, group, answers):
                picks = (Pick(free.pick.step, free.pick.mistake, _plain(constant)),)
                if self.explains(picks, seen):
                    return picks
        return None

    def _free(self, group: Questions) -> list["Free"]:
        """Each mistake with a free constant, and what it gives for some constants."""
        key = tuple(each.probe.id for each in group)
        if key not in self._frees:
            fitted = [Pick(at, each) for at, each in _mistakes(self.rule) if each.fits]
            found = (self._scanned(each, group) for each in fitted)
            self._frees[key] = [each for each in found if each is not None]
        return self._frees[key]

    def _scanned(self, pick: Pick, group: Questions) -> "Free | None":
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
            names = self._run(picks, _side_by_side(group).arguments, "float64")
            value = None if names is None else self._result(names, group[0])
            if value is None or value.ndim > 1:
                return None
            return ((),) * len(group), np.broadcast_to(value, (len(group),))
        values = [self.give(picks, question) for question in group]
        found = [each for each in values if each is not None]
        return _in_one_row(found) if len(found) == len(group) else None

    def _constants(self, free: "Free", group: Questions, answers: Answers) -> Iterator[float]:
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

    def _roots(self, free: "Free", group: Questions, wanted: Array, at: int) -> Iterator[float]:
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

    # --- what an explanation gives ------------------------------------------------------------

    def give(self, picks: Picks, question: Question, *, dtype: str = "float64") -> Array | None:
        """The numbers of the rule with these mistakes; None where its formulas do not fit."""
        arguments = dict(question.arguments)
        written = next((each.mistake.written for each in picks if each.mistake.written), None)
        if question.probe.twice and written is not None and written not in question.first:
            before = self._run(picks, {**arguments, **question.first}, dtype)
            left = None if before is None else self._result(before, question)
            if left is None or left.shape != np.shape(_array(arguments[written], dtype)):
                return None
            arguments[written] = left
        names = self._run(picks, arguments, dtype)
        return None if names is None else self._result(names, question)


@dataclass(frozen=True, kw_only=True)
class Free:
    """A mistake with a free constant c: `start + slope * c`, or its values on a grid."""

    pick: Pick
    start: Array = None
    slope: Array = None
    grid: Array = None
    values: Array = None


class Table:
    """What explanations give on some probes, by the shapes of the results."""

    def __init__(self, found: Iterable[tuple[Picks, Answers]]) -> None:
        groups: dict[object, tuple[list[Picks], list[Array]]] = {}
        for picks, answers in found:
            names, rows = groups.setdefault(answers[0], ([], []))
            names.append(picks)
            rows.append(answers[1])
        self._groups = {shapes: (names, np.stack(rows)) for shapes, (names, rows) in groups.items()}

    def near(self, shapes: object, row: Array) -> Iterator[Picks]:
        """Those that agree with the row in most places, in order."""
        if shapes not in self._groups:
            return
        names, rows = self._groups[shapes]
        with np.errstate(all="ignore"):
            agreeing = _close(rows, row[None]).mean(axis=1)
        for at in np.flatnonzero(agreeing >= _AGREEING):
            yield names[at]


def _label(step: int) -> str:
    """What a step is called among the names: no parameter looks like it."""
    return f"step {step}"


def _side_by_side(group: Questions) -> Question:
    """Calls with plain numbers as one call with rows of them; what one leaves out is NaN."""
    names = dict.fromkeys(name for each in group for name in each.arguments)
    arguments: dict[str, object] = {
        name: np.array([each.arguments.get(name, np.nan) for each in group]) for name in names
    }
    return Question(probe=group[0].probe, arguments=arguments, first={})


def singles(rule: Rule) -> list[Picks]:
    """Every mistake alone, with each of its constants."""
    return [(each,) for each in _picks(rule)]


def _weight(picks: Picks) -> int:
    return sum(each.mistake.weight for each in picks)


def _picks(rule: Rule) -> list[Pick]:
    return [
        Pick(at, mistake, constant)
        for at, mistake in _mistakes(rule)
        for constant in (mistake.constants or (None,))
        if constant is not None or not mistake.fits
    ]


def _mistakes(rule: Rule) -> list[tuple[int, Mistake]]:
    return [(at, each) for at, step in enumerate(rule.steps) for each in step.mistakes]


def _needs(rule: Rule) -> list[tuple[int, ...]]:
    """For each step the steps whose choice can change it, itself included."""
    places = {step.name: at for at, step in enumerate(rule.steps)}
    needs: list[tuple[int, ...]] = []
    for at, step in enumerate(rule.steps):
        formulas = [step.right, *(each.formula for each in step.mistakes if each.formula)]
        before = {
            places[name]
            for formula in formulas
            for name in names(formula)
            if places.get(name, at) < at
        }
        needs.append(tuple(sorted({at, *(each for one in before for each in needs[one])})))
    return needs


def _array(value: object, dtype: str) -> Array:
    if isinstance(value, torch.Tensor):
        value = value.to(torch.float64).numpy()
    return np.asarray(value, dtype=dtype) if value is not None else None


def _close(one: Array, other: Array) -> Array:
    return np.isclose(one, other, rtol=RTOL, atol=ATOL, equal_nan=True)


def _agreeing(answer: Seen, given: Array) -> Array:
    with np.errstate(all="ignore"):
        agreeing = np.asarray(_close(answer.value, given))
        # A tiny number is no zero.
        return agreeing & ((answer.value == 0) == (given == 0)) if answer.exact else agreeing


def _lost(given: Array, rough: Array | None) -> Array:
    """Where the same formulas in 32 bits give another number."""
    if rough is None or rough.shape != given.shape:
        return np.zeros(given.shape, dtype=bool)
    with np.errstate(all="ignore"):
        return ~np.isclose(rough, given, rtol=RTOL / 4, atol=ATOL / 4, equal_nan=True)


def _brackets(values: Array, wanted: Array) -> list[int]:
    """The gaps of the grid in which most numbers are passed (some turn round within a gap)."""
    low, high = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    room = ATOL + RTOL * np.abs(wanted)
    passed = (low - room <= wanted) & (wanted <= high + room)
    with np.errstate(all="ignore"):
        moving = (high - low > 2 * room).any(axis=1)
    return [int(at) for at in np.flatnonzero((passed.mean(axis=1) >= _PASSED) & moving)]


def _in_one_row(values: Sequence[Array]) -> Answers:
    return tuple(each.shape for each in values), np.concatenate(
        [each.reshape(-1) for each in values]
    )


def _answers(group: Questions, seen: Mapping[str, Seen]) -> Answers:
    return _in_one_row([seen[each.probe.id].value for each in group])


def _plain(value: float) -> float:
    """A fitted constant to four digits, or the whole number that it is next to."""
    whole = round(value)
    if whole and abs(value - whole) <= 1e-3 * abs(whole):
        return float(whole)
    return float(f"{value:.5g}")
