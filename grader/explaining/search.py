"""Which mistakes in a rule give a submission's numbers: one, one with a fitted constant, or two.

Every explanation is tried, none is guessed: it must give all numbers of every probe that the
submission answers. What a rule's mistakes give does not depend on the submission, so it is worked
out once, on one probe, for all of them; only what agrees there is looked at on the other probes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from grader.explaining.asking import (
    Answers,
    Array,
    Pick,
    Picks,
    Question,
    Questions,
    Seen,
    agree_at,
    close,
    in_one_row,
    lost_at,
    row_of,
    side_by_side,
)
from grader.explaining.fitting import Fitter, plain
from grader.explaining.rules import Rule
from grader.explaining.running import Runner

# Of the numbers on the first probe so many must agree before the others are looked at.
_AGREEING: Final = 0.5
_SOLID: Final = 0.5
# Answered by a submission at least: probes, and numbers.
_LEAST_PROBES, _LEAST_NUMBERS, _ALONE = 2, 3, 24
_ENOUGH: Final = 12


class Explainer:
    """The explanations of one function; tables are made when they are first needed.

    Args:
        questions: the function's probes; those in half precision say nothing about a rule.
        right: the right numbers, by probe.
    """

    def __init__(
        self, *, rule: Rule, questions: Sequence[Question], right: Mapping[str, Array]
    ) -> None:
        self.rule, self.questions, self.right = rule, questions, right
        self._runner = Runner(rule)
        self._fitter = Fitter(self._runner)
        self._tables: dict[tuple[object, ...], Table] = {}

    def warm(self) -> None:
        """Make the tables of the first probes, which most submissions answer."""
        group = self._group(
            {each.probe.id: Seen(value=self.right[each.probe.id]) for each in self.questions}
        )
        if group is not None:
            self._table(group, 1)
            self._table(group, 2)

    def one(self, seen: Mapping[str, Seen], told: Collection[str] = ()) -> Picks | None:
        """The one mistake that gives these numbers, with one of its own constants if it has any.

        Args:
            told: the ids of mistakes that another function shows; one of them that explains this
                one, too, is the simplest explanation.
        """
        return self._listed(seen, 1, told)

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
        shapes, values = row_of(group, seen)
        near = [*self._table(group, size).near(shapes, values)]
        if told:
            near.sort(key=lambda picks: picks[0].mistake.id not in told)
        found = (picks for picks in near if self.explains(picks, seen))
        silent = [each for each in self.questions if each.probe.id not in seen]
        if not silent:
            return next(found, None)
        # What would have given a number where the submission gave none explains less.
        return min(found, key=lambda picks: self._speaks(picks, silent), default=None)

    def _speaks(self, picks: Picks, silent: Sequence[Question]) -> int:
        """On how many of the calls without an answer these mistakes would give one."""
        return sum(self._runner.give(picks, each) is not None for each in silent)

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
            found = self._runner.sweep(side_by_side(group), size)
            count, shapes = len(group), ((),) * len(group)
            return {
                picks: (shapes, np.broadcast_to(value, (count,)))
                for picks, value in found.items()
                if value.ndim <= 1
            }
        parts = [self._runner.sweep(question, size) for question in group]
        return {
            picks: in_one_row([part[picks] for part in parts])
            for picks in parts[0]
            if all(picks in part for part in parts)
        }

    def explains(self, picks: Picks, seen: Mapping[str, Seen]) -> bool:
        """Whether these mistakes give every number that was answered, and not the right ones."""
        differs, solid, total = False, 0, 0
        for question in self.questions:
            answer = seen.get(question.probe.id)
            if answer is None:
                continue
            given = self._runner.give(picks, question)
            if given is None or given.shape != answer.value.shape:
                return False
            agreeing = agree_at(answer, given)
            # Where float32 itself is lost (the sine of a huge angle), no digit says anything.
            lost = lost_at(given, self._runner.give(picks, question, dtype="float32"))
            if not (agreeing | (lost & (not answer.exact))).all():
                return False
            solid, total = solid + int((~lost).sum()), total + lost.size
            right = Seen(value=self.right[question.probe.id], exact=answer.exact)
            differs = differs or (
                right.value.shape != given.shape or not agree_at(right, given).all()
            )
        return differs and solid >= _SOLID * total

    def fitted(self, seen: Mapping[str, Seen]) -> Picks | None:
        """The one mistake that gives these numbers with another constant, which is found."""
        group = self._group(seen)
        if group is None:
            return None
        answers = row_of(group, seen)
        for free in self._fitter.free(group):
            for constant in self._fitter.constants(free, group, answers):
                picks = (Pick(free.pick.step, free.pick.mistake, plain(constant)),)
                if self.explains(picks, seen):
                    return picks
        return None

    def picks(self) -> list[Pick]:
        """Every mistake, with each of its constants."""
        return self._runner.picks

    def give(self, picks: Picks, question: Question) -> Array | None:
        """The numbers of the rule with these mistakes; None where its formulas do not fit."""
        return self._runner.give(picks, question)


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
            agreeing = close(rows, row[None]).mean(axis=1)
        for at in np.flatnonzero(agreeing >= _AGREEING):
            yield names[at]


def _weight(picks: Picks) -> int:
    return sum(each.mistake.weight for each in picks)
