"""Which mistake it was: a submission's numbers against those of every known misconception.

Pure functions over numbers. A diagnosis is made only when a submission's results on the probes of a
function are those of one misconception, of a mistake or two in the function's rule (with a constant
that is found), or of one near miss (the right numbers scaled, shifted by a row, …), and are not the
right ones. There is no score of likeness and no threshold to tune: no match, no claim. The simplest
explanation is told; each is about one function and explains that function's own numbers.

The tolerance separates float32 rounding from other answers. At the probes' positions (up to a few
hundred) right float32 code is off by at most 1e-4 (5e-7 times the largest position), two
misconceptions differ by 1e-2 and more; the builder of `diagnosis.json` refuses one that does not
differ from the right answer by more than the tolerance.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import torch

from grader.explaining import cases, forms, memory, near, telling
from grader.explaining.asking import Question, Seen
from grader.explaining.knowledge import HALF, Knowledge, Known, Numbers, same
from grader.explaining.rules import Rule
from grader.explaining.search import Explainer
from grader.model import Diagnosis, Json

# Calls that a mistake must explain to be told together with the case in which it does.
_LEAST_CALLS, _LEAST_NUMBERS = 2, 24


class Diagnostician:
    """What is known about an assignment's wrong answers, ready to be asked.

    Args:
        questions: the probes with their arguments; without them rules explain nothing.
    """

    def __init__(self, knowledge: Knowledge, questions: Iterable[Question] = ()) -> None:
        self.knowledge = knowledge
        asked: dict[str, list[Question]] = {}
        for each in questions:
            if each.probe.id in knowledge.right:
                asked.setdefault(each.probe.function, []).append(each)
        rules = {rule.function: rule for rule in knowledge.rules}
        self.functions = {
            function: _Function(
                name=function,
                knowledge=knowledge,
                questions=asked.get(function, ()),
                rule=rules.get(function),
            )
            for function in knowledge.probes
        }

    @property
    def explainers(self) -> dict[str, Explainer]:
        """Those of the functions that have a rule."""
        found = {name: each.explainer for name, each in self.functions.items()}
        return {name: each for name, each in found.items() if each is not None}

    def warm(self) -> None:
        """Work out what does not depend on a submission."""
        for each in self.explainers.values():
            each.warm()

    def diagnose(self, seen: Mapping[str, Numbers]) -> tuple[Diagnosis, ...]:
        """At most one diagnosis for each function.

        Args:
            seen: the submission's numbers, by probe.
        """
        found: list[Diagnosis] = []
        for function in self.functions.values():
            match = function.diagnose(seen, {each.id for each in found})
            if match is not None and match.id not in {each.id for each in found}:
                found.append(match)
        return tuple(found)

    def random(self, functions: Iterable[str]) -> tuple[Diagnosis, ...]:
        """The diagnoses of functions that give other numbers each time."""
        return tuple(telling.near_miss(each, ("random", {}), by="results") for each in functions)


class _Function:
    """One function's probes, its rule, and the cases that its probes tell apart."""

    def __init__(
        self,
        *,
        name: str,
        knowledge: Knowledge,
        questions: Sequence[Question],
        rule: Rule | None,
    ) -> None:
        self.name, self.knowledge, self.questions = name, knowledge, questions
        self.probes, self.right = knowledge.probes[name], knowledge.right
        precise = [each for each in questions if _is_precise(self.right[each.probe.id])]
        self.explainer = (
            None
            if rule is None
            else Explainer(
                rule=rule,
                questions=precise,
                right={each.probe.id: self.right[each.probe.id].tensor.numpy() for each in precise},  # type: ignore[union-attr]
            )
        )
        self.sides = cases.sides(questions)

    def diagnose(self, seen: Mapping[str, Numbers], told: Collection[str]) -> Diagnosis | None:
        """What is wrong with this function; None where it is right, or nobody knows.

        Args:
            told: the ids of what is told of other functions.
        """
        if all(same(seen.get(each), self.right[each], dtype=True) for each in self.probes):
            return None
        return (
            _known(self.name, seen, self.knowledge)
            or self._by_kind(seen)
            or self._by_one(seen, told)
            or self._by_memory(seen)
            or self._by_constant(seen)
            or self._by_repetition(seen)
            or self._by_form(seen)
            or self._by_two(seen)
            or self._by_case(seen)
            or self._by_parts(seen)
            or self._by_mistake_and_case(seen)
        )

    def _by_kind(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        kind = _kind(seen, self.probes)
        return telling.near_miss(self.name, (kind, {}), by="results") if kind else None

    def _by_one(self, seen: Mapping[str, Numbers], told: Collection[str]) -> Diagnosis | None:
        picks = self.explainer and self.explainer.one(_answers(seen), told)
        return telling.explained(self.name, picks) if picks else None

    def _by_constant(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        picks = self.explainer and self.explainer.fitted(_answers(seen))
        if picks:
            return telling.explained(self.name, picks)
        pairs = _pairs(seen, self.probes, self.knowledge)
        miss = near.plain(pairs) if pairs else None
        return miss and telling.near_miss(self.name, miss)

    def _by_repetition(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        """Right whenever arguments come for the first time."""
        right = self._right(seen)
        wrong = [each for each in self.questions if each.probe.id not in right]
        if not right or not wrong or not all(each.probe.twice and not each.first for each in wrong):
            return None
        return telling.near_miss(self.name, ("again_never", {}))

    def _by_form(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        whole = [each.probe.id for each in self.questions if each.probe.last_rows is None]
        if (miss := forms.form(_answered(seen, whole or self.probes, self.knowledge))) is not None:
            return telling.near_miss(self.name, miss, by="results")
        if (miss := self._other_dtype(seen)) is not None:
            return telling.near_miss(self.name, miss, by="results")
        return None

    def _other_dtype(self, seen: Mapping[str, Numbers]) -> near.Told | None:
        """Right numbers, as far as there are any, in another dtype than a tensor should have."""
        given = [(seen[id], self.right[id]) for id in self.probes if id in seen]
        answered = [(one, right) for one, right in given if one.tensor is not None]
        if not answered or not all(same(one, right) for one, right in answered):
            return None
        others = [
            (one, right)
            for one, right in answered
            if one.dtype != right.dtype and right.tensor is not None and right.tensor.ndim
        ]
        if not others:
            return None
        one, right = others[0]
        return "dtype", {"seen": one.dtype, "right": right.dtype}

    def _by_memory(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        explainer = self.explainer
        if explainer is None:
            return None
        precise = {each.probe.id for each in explainer.questions}
        past = memory.Past(
            questions=self.questions,
            seen={id: each for id, each in _answers(seen).items() if id in precise},
            raised=frozenset(id for id in self.probes if id in seen and seen[id].raised),
            right=self._right(seen),
        )
        found = memory.remembered(
            past, lambda question, other: explainer.give((), replace(question, arguments=other))
        )
        if found is None:
            return None
        parameters: Json = [*found.parameters]
        return telling.near_miss(self.name, ("remembers", {"parameters": parameters}))

    def _by_two(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        picks = self.explainer and self.explainer.two(_answers(seen))
        return telling.explained(self.name, picks) if picks else None

    def _by_case(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        right = self._right(seen)
        sides = cases.dividing(self.sides, right) if right and self._complete(seen) else None
        if sides is None:
            return None
        raised = all(seen[each].raised for each in self.probes if each not in right)
        return telling.worked_only(self.name, sides, "errors" if raised else "numbers")

    def _by_parts(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        pairs = _pairs(seen, self.probes, self.knowledge)
        miss = near.partial(pairs) if pairs else None
        return miss and telling.near_miss(self.name, miss)

    def _by_mistake_and_case(self, seen: Mapping[str, Numbers]) -> Diagnosis | None:
        """A mistake that explains all calls of one case, where the function works at all."""
        if self.explainer is None or not self._complete(seen):
            return None
        answers = _answers(seen)
        for side in sorted(self.sides, key=lambda each: -len(each.ids)):
            if not side.broad or len(side.ids) < _LEAST_CALLS:
                continue
            some = {id: answers[id] for id in side.ids if id in answers}
            if sum(each.value.size for each in some.values()) < _LEAST_NUMBERS:
                continue
            picks = self.explainer.one(some)
            if picks is not None:
                words = [telling.of_pick(picks[0]), telling.of_side(self.name, side)]
                return telling.diagnosis(self.name, words)
        return None

    def _right(self, seen: Mapping[str, Numbers]) -> frozenset[str]:
        return frozenset(each for each in self.probes if same(seen.get(each), self.right[each]))

    def _complete(self, seen: Mapping[str, Numbers]) -> bool:
        """Whether every call came to an end."""
        return all(each in seen for each in self.probes)


def diagnose(seen: Mapping[str, Numbers], knowledge: Knowledge) -> tuple[Diagnosis, ...]:
    """The diagnoses by stored numbers and near misses alone."""
    return Diagnostician(knowledge).diagnose(seen)


# --- known misconceptions ------------------------------------------------------------------


def _known(function: str, seen: Mapping[str, Numbers], knowledge: Knowledge) -> Diagnosis | None:
    probes, right = knowledge.probes[function], knowledge.right
    matches: list[Known] = []
    for each in knowledge.known:
        # A dtype is a matter of its own: whoever returns float64 may still have mixed something
        # up, so it decides only where the numbers are right.
        by_numbers = not all(same(each.numbers[p], right[p]) for p in probes)
        by_dtype = not all(same(each.numbers[p], right[p], dtype=True) for p in probes)
        if not by_dtype:
            continue
        if all(same(seen.get(p), each.numbers[p], dtype=not by_numbers) for p in probes):
            matches.append(each)
    if not matches:
        return None
    best = max(matches, key=lambda each: _reach(function, seen, each, knowledge))
    return Diagnosis(
        id=best.id,
        title=best.title,
        hint=best.hint,
        function=function,
        by=_by(best, probes, right),
    )


def _reach(function: str, seen: Mapping[str, Numbers], known: Known, knowledge: Knowledge) -> int:
    """How well a misconception that explains this function suits the others.

    Best is one that explains them, too; next, one that is about this function alone. What it says
    of a function that it does not explain would be false.
    """
    others = [p for name, ids in knowledge.probes.items() if name != function for p in ids]
    if all(same(seen.get(p), known.numbers[p]) for p in others):
        return 2
    return int(all(same(known.numbers[p], knowledge.right[p]) for p in others))


def _by(
    known: Known, probes: Sequence[str], right: Mapping[str, Numbers]
) -> Literal["numbers", "results", "errors"]:
    """By what it was recognised: without numbers nothing may be said of them."""
    differing = [p for p in probes if not same(known.numbers[p], right[p])]
    if any(known.numbers[p].raised is not None for p in differing):
        return "errors"
    return "numbers" if differing else "results"


# --- rules -----------------------------------------------------------------------------------


def _is_precise(right: Numbers | None) -> bool:
    """Half precision carries too few digits to tell one rule from another."""
    return right is not None and right.tensor is not None and right.dtype not in HALF


def _answers(seen: Mapping[str, Numbers]) -> dict[str, Seen]:
    return {
        id: Seen(value=each.tensor.numpy(), exact=each.exact)
        for id, each in seen.items()
        if each.tensor is not None
    }


# --- near misses -----------------------------------------------------------------------------


def _pairs(
    seen: Mapping[str, Numbers], probes: Sequence[str], knowledge: Knowledge
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Seen and right values of all probes; none where an answer is missing or not finite."""
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    for probe in probes:
        one = seen.get(probe)
        left, right = one.tensor if one is not None else None, knowledge.right[probe].tensor
        if left is None or right is None or not bool(torch.isfinite(left).all()):
            return []
        if bool(torch.isfinite(right).all()) and knowledge.right[probe].dtype not in HALF:
            pairs.append((left, right))
    return [] if all(near.close(left, right) for left, right in pairs) else pairs


def _answered(
    seen: Mapping[str, Numbers], probes: Sequence[str], knowledge: Knowledge
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Seen and right values of the probes that were answered with finite numbers."""
    return [
        (seen[id].tensor, knowledge.right[id].tensor)  # type: ignore[misc]
        for id in probes
        if id in seen and _is_finite(seen[id]) and _is_finite(knowledge.right[id])
        if knowledge.right[id].dtype not in HALF
    ]


def _is_finite(numbers: Numbers) -> bool:
    return numbers.tensor is not None and bool(torch.isfinite(numbers.tensor).all())


def _kind(seen: Mapping[str, Numbers], probes: Sequence[str]) -> str | None:
    """What every call gave instead of numbers, where it is one and the same."""
    kinds = {seen[each].kind if each in seen else "" for each in probes}
    return kinds.pop() or None if len(kinds) == 1 else None
