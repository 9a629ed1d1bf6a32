"""Which mistake it was: a submission's numbers against those of every known misconception.

Pure functions over numbers. A diagnosis is made only when a submission's results on the probes of a
function are those of one misconception, of a mistake or two in the function's rule (with a constant
that is found), or of one near miss (the right numbers scaled, shifted by a row, …), and are not the
right ones. There is no score of likeness and no threshold to tune: no match, no claim. The simplest
explanation is told; each is about one function and explains that function's own numbers.

The tolerance separates float32 rounding from other answers. At the probes' positions (up to a few
hundred) right float32 code is off by at most 1e-4 (DOMAIN: 5e-7 times the largest position), two
misconceptions differ by 1e-2 and more; the builder of `diagnosis.json` refuses one that does not
differ from the right answer by more than the tolerance.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import torch

from grader.explaining import near
from grader.explaining.asking import Pick, Question, Seen
from grader.explaining.knowledge import HALF, Knowledge, Known, Numbers, same
from grader.explaining.search import Explainer
from grader.model import Diagnosis, Text
from grader.texts import catalog


class Diagnostician:
    """What is known about an assignment's wrong answers, ready to be asked.

    Args:
        questions: the probes with their arguments; without them rules explain nothing.
    """

    def __init__(self, knowledge: Knowledge, questions: Iterable[Question] = ()) -> None:
        self.knowledge = knowledge
        asked = [each for each in questions if _is_precise(knowledge.right.get(each.probe.id))]
        self.explainers = {
            rule.function: Explainer(
                rule=rule,
                questions=[each for each in asked if each.probe.function == rule.function],
                right={
                    each.probe.id: knowledge.right[each.probe.id].tensor.numpy()  # type: ignore[union-attr]
                    for each in asked
                },
            )
            for rule in knowledge.rules
        }

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
        for function in self.knowledge.probes:
            match = self._of(function, seen, {each.id for each in found})
            if match is not None and match.id not in {each.id for each in found}:
                found.append(match)
        return tuple(found)

    def _of(
        self, function: str, seen: Mapping[str, Numbers], told: Collection[str]
    ) -> Diagnosis | None:
        probes, right = self.knowledge.probes[function], self.knowledge.right
        if all(same(seen.get(each), right[each], dtype=True) for each in probes):
            return None
        if (known := _known(function, seen, self.knowledge)) is not None:
            return known
        if (kind := _kind(seen, probes)) is not None:
            return _near_miss(function, (kind, {}), by="results")
        explainer, answers = self.explainers.get(function), _answers(seen)
        if explainer is not None and (picks := explainer.one(answers, told)) is not None:
            return _explained(function, picks)
        pairs = _pairs(seen, probes, self.knowledge)
        if pairs and (miss := near.plain(pairs)) is not None:
            return _near_miss(function, miss)
        if explainer is not None and (picks := explainer.two(answers)) is not None:
            return _explained(function, picks)
        if pairs and (miss := near.partial(pairs)) is not None:
            return _near_miss(function, miss)
        return None


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


def _explained(function: str, picks: Sequence[Pick]) -> Diagnosis:
    told = [(_filled(each.mistake.title, each), _filled(each.mistake.hint, each)) for each in picks]
    id = "+".join(each.mistake.id for each in picks)
    (title, hint), *others = told
    for other_title, other_hint in others:
        title, hint = together(title, other_title, "title"), together(hint, other_hint, "hint")
    return Diagnosis(id=id, title=title, hint=hint, function=function)


def _filled(text: Text, pick: Pick) -> Text:
    if pick.constant is None:
        return text
    constant = near.digits(pick.constant)
    return Text(
        code=text.code, en=text.en.replace("{c}", constant), zh=text.zh.replace("{c}", constant)
    )


def together(first: Text, second: Text, part: str) -> Text:
    """One sentence of two mistakes that act together."""
    code = f"near.together.{part}"
    return Text(
        code=code,
        en=catalog.say("en", code, first=first.en, second=second.en),
        zh=catalog.say("zh", code, first=first.zh, second=second.zh),
    )


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


def _kind(seen: Mapping[str, Numbers], probes: Sequence[str]) -> str | None:
    """What every call gave instead of numbers, where it is one and the same."""
    kinds = {seen[each].kind if each in seen else "" for each in probes}
    return kinds.pop() or None if len(kinds) == 1 else None


def _near_miss(
    function: str, told: near.Told, by: Literal["numbers", "results"] = "numbers"
) -> Diagnosis:
    code, args = told
    return Diagnosis(
        id=f"near.{code}",
        title=catalog.text(f"near.{code}.title", function=function, **args),
        hint=catalog.text(f"near.{code}.hint", function=function, **args),
        function=function,
        by=by,
    )
