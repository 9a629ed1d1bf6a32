"""A rule run with mistakes in it: what each explanation gives on each probe."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.explaining import numbers
from grader.explaining.asking import Array, Pick, Picks, Question, array
from grader.explaining.grammar import CONSTANT, names
from grader.explaining.rules import Mistake, Rule


class Runner:
    """The formulas of one rule, compiled.

    `picks` are its mistakes, each with each of its constants.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.picks = _picks(rule)
        needs = _needs(rule)
        self._formulas: list[dict[int | None, numbers.Formula]] = []
        for at, step in enumerate(rule.steps):
            earlier = {each.name: _label(place) for place, each in enumerate(rule.steps[:at])}
            self._formulas.append({None: numbers.compiled(step.right, earlier)})
            for each in step.mistakes:
                if each.formula is not None:
                    self._formulas[at][id(each)] = numbers.compiled(each.formula, earlier)
        self._dependents = [
            [later for later, needed in enumerate(needs) if at in needed and later > at]
            for at in range(len(rule.steps))
        ]

    def sweep(self, question: Question, size: int) -> dict[Picks, Array]:
        """All explanations on one probe; of each pair only what its later step changes is computed.

        With all steps for each of thousands of pairs it would take several times as long.
        """
        found: dict[Picks, Array] = {}
        picks = self.picks
        with np.errstate(all="ignore"):
            start = self.run((), question.arguments, "float64")
            for one in picks:
                names = self._redone(start, one)
                if size == 1 and names is not None:
                    found[(one,)] = self.result(names, question)
                for other in picks if size == 2 and names is not None else ():
                    if other.step > one.step:
                        both = self._redone(names, other)
                        if both is not None:
                            found[one, other] = self.result(both, question)
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

    def run(
        self, picks: Picks, arguments: Mapping[str, object], dtype: str
    ) -> dict[str, Any] | None:
        """All names of the rule with these mistakes; None where its formulas do not fit."""
        names: dict[str, Any] = {key: array(each, dtype) for key, each in arguments.items()}
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

    def result(self, names: Mapping[str, Any], question: Question) -> Array:
        result = np.asarray(names[_label(len(self.rule.steps) - 1)], dtype=np.float64)
        if question.probe.last_rows is not None and result.ndim > 1:
            return result[..., -question.probe.last_rows :, :]
        return result

    def give(self, picks: Picks, question: Question, *, dtype: str = "float64") -> Array | None:
        """The numbers of the rule with these mistakes; None where its formulas do not fit."""
        arguments = dict(question.arguments)
        written = next((each.mistake.written for each in picks if each.mistake.written), None)
        if question.probe.twice and written is not None and written not in question.first:
            before = self.run(picks, {**arguments, **question.first}, dtype)
            left = None if before is None else self.result(before, question)
            if left is None or left.shape != np.shape(array(arguments[written], dtype)):
                return None
            arguments[written] = left
        names = self.run(picks, arguments, dtype)
        return None if names is None else self.result(names, question)


def _label(step: int) -> str:
    """What a step is called among the names: no parameter looks like it."""
    return f"step {step}"


def singles(rule: Rule) -> list[Picks]:
    """Every mistake alone, with each of its constants."""
    return [(each,) for each in _picks(rule)]


def _picks(rule: Rule) -> list[Pick]:
    return [
        Pick(at, mistake, constant)
        for at, mistake in mistakes(rule)
        for constant in (mistake.constants or (None,))
        if constant is not None or not mistake.fits
    ]


def mistakes(rule: Rule) -> list[tuple[int, Mistake]]:
    """The mistakes, with the numbers of their steps."""
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
