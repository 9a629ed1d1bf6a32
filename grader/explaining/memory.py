"""What a submission remembers: arguments of an earlier call that are used in later ones.

A table that is made once, a cache whose key leaves something out, the first call's positions kept
in a global: in each of them the numbers of a call are right for arguments that an earlier one had.
The calls are played through in their order, for everything that may be remembered and everything
that may decide whether it is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import torch

from grader.explaining.asking import Array, Question, Seen, agree_at

Arguments = Mapping[str, object]
# The right numbers of a question with other arguments; None where they do not fit.
Give = Callable[[Question, Arguments], Array | None]
# Answers with numbers at least, and numbers.
_LEAST, _ENOUGH = 3, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """Parameters whose first values are kept, for all calls or for those with the same key."""

    parameters: tuple[str, ...]
    key: tuple[str, ...] = ()
    # Made anew when more rows come than there were.
    grows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The calls so far, and what a submission answered.

    Args:
        seen: its numbers, where it gave some.
        raised: the probes on which it raised an exception.
        right: the probes that it answered rightly.
    """

    questions: Sequence[Question]
    seen: Mapping[str, Seen]
    raised: frozenset[str]
    right: frozenset[str]


def remembered(past: Past, give: Give) -> Remembered | None:
    """What explains the answers, where the first call is right and a later one is not."""
    asked = [each.probe.id for each in past.questions]
    if not asked or asked[0] not in past.right or past.questions[0].probe.twice:
        return None
    total = sum(each.value.size for each in past.seen.values())
    if past.right.issuperset(past.seen) or (len(past.seen) < _LEAST and total < _ENOUGH):
        return None
    given: dict[object, Array | None] = {}
    return next((each for each in _all(past.questions) if _plays(each, past, give, given)), None)


def _all(questions: Sequence[Question]) -> Iterator[Remembered]:
    """The simplest first: few parameters, a short key."""
    names = list(dict.fromkeys(name for each in questions for name in each.arguments))
    facts = list(dict.fromkeys(fact for each in questions for fact in _facts(each.arguments)))
    for parameters in chain.from_iterable(combinations(names, n) for n in range(1, len(names) + 1)):
        for key in chain.from_iterable(combinations(facts, n) for n in range(len(facts) + 1)):
            if not any(fact in parameters for fact in key):
                yield Remembered(parameters=parameters, key=key)
        yield Remembered(parameters=parameters, grows=True)


def _facts(arguments: Arguments) -> dict[str, object]:
    """What a key may be made of: numbers, and the last two sizes of tensors."""
    facts: dict[str, object] = {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) and value.ndim > 1:
            facts |= {f"{name} -1": value.shape[-1], f"{name} -2": value.shape[-2]}
        elif not isinstance(value, torch.Tensor):
            facts[name] = value
    return facts


def _plays(what: Remembered, past: Past, give: Give, given: dict[object, Array | None]) -> bool:
    """Whether the calls, played through with this memory, give what was answered."""
    kept: dict[object, tuple[object, Arguments]] = {}
    stale = 0
    for question in past.questions:
        id = question.probe.id
        if question.probe.twice:
            _keep(what, kept, {**question.arguments, **question.first}, (id, "first"))
        source, old = _keep(what, kept, question.arguments, (id,))
        if id in past.raised:
            if source == (id,) or _sizes(old) == _sizes(question.arguments):
                return False
            continue
        if id not in past.seen:
            continue
        stale += id not in past.right
        if source == (id,):
            if id not in past.right:
                return False
            continue
        at = (id, source, what.parameters)
        if at not in given:
            given[at] = give(question, _mixed(question.arguments, old, what.parameters))
        wanted = given[at]
        if wanted is None or wanted.shape != past.seen[id].value.shape:
            return False
        if not agree_at(past.seen[id], wanted).all():
            return False
    return stale > 0


def _keep(
    what: Remembered,
    kept: dict[object, tuple[object, Arguments]],
    arguments: Arguments,
    source: object,
) -> tuple[object, Arguments]:
    """Whose arguments this call uses: those of the first one with the same key."""
    facts = _facts(arguments)
    key = tuple(facts.get(each) for each in what.key)
    if key in kept and what.grows and _rows(arguments) > _rows(kept[key][1]):
        del kept[key]
    return kept.setdefault(key, (source, arguments))


def _mixed(arguments: Arguments, old: Arguments, parameters: Sequence[str]) -> Arguments:
    """These arguments, with the old ones of some parameters (or none, where none were given)."""
    mixed = {name: each for name, each in arguments.items() if name not in parameters}
    rows = _rows(mixed)
    return mixed | {name: _first(old[name], rows) for name in parameters if name in old}


def _first(value: object, rows: int) -> object:
    """Of a longer table so many rows as are needed now, which is how tables are used."""
    if not rows or not isinstance(value, torch.Tensor) or value.ndim == 0:
        return value
    return value[:rows] if value.ndim == 1 else value[..., :rows, :]


def _sizes(arguments: Arguments) -> list[tuple[int, ...]]:
    tensors = [each for each in arguments.values() if isinstance(each, torch.Tensor)]
    return [tuple(each.shape) for each in tensors]


def _rows(arguments: Arguments) -> int:
    sizes = [each[-2] for each in _sizes(arguments) if len(each) > 1]
    return sizes[0] if sizes else 0
