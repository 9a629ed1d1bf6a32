"""Running probes: the numbers by which a misconception is recognised."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import torch

from grader.assignment import Assignment
from grader.claims import clean
from grader.errors import GraderError
from grader.explaining.asking import Question
from grader.explaining.knowledge import Numbers, same
from grader.model import Change, Died, Observation, Parameter, Probe, Raised, Recipe, Returned
from grader.sandbox import wire
from grader.sandbox.session import Session, Spent
from grader.suite.rng import Rng

# Also of an answer that is twice as wide as the right one to the longest probe.
ROOM = 1 << 18
# A second answer may differ because something is remembered; a third one shows chance.
_TIMES = 3
DTYPES = {name: dtype for name, dtype in wire.DTYPES.items() if not dtype.is_complex}


def run(
    assignment: Assignment, session: Session, changes: Mapping[str, Change]
) -> dict[str, Numbers]:
    """The submission's numbers on every probe that it still answers.

    Args:
        changes: what is done to arguments before the call, by parameter.
    """
    numbers: dict[str, Numbers] = {}
    for probe in assignment.probes:
        seen = _observe(assignment, probe, session, changes)
        if seen is None or isinstance(seen, Died):
            # Each further probe could cost another time limit.
            break
        numbers[probe.id] = replace(_cut(_of(seen), probe), exact=probe.exact)
    return numbers


def restless(assignment: Assignment, session: Session) -> tuple[str, ...]:
    """The functions that give other numbers each time when one call is made three times."""
    found: list[str] = []
    for entry in assignment.entry_points:
        own = [each for each in assignment.probes if each.function == entry.name]
        if not own:
            continue
        answers = [_observe(assignment, own[0], session, {}) for _ in range(_TIMES)]
        if any(each is None or isinstance(each, Died) for each in answers):
            break
        numbers = [_of(each) for each in answers if each is not None]
        if not any(same(one, other) for one, other in pairwise(numbers)) and all(
            each.tensor is not None for each in numbers
        ):
            found.append(entry.name)
    return tuple(found)


def questions(assignment: Assignment) -> tuple[Question, ...]:
    """The probes with their arguments, for whoever works the answers out."""
    return tuple(
        Question(
            probe=each,
            arguments=_made(assignment, each, each.arguments),
            first=_made(assignment, each, each.first),
        )
        for each in assignment.probes
    )


def _observe(
    assignment: Assignment, probe: Probe, session: Session, changes: Mapping[str, Change]
) -> Observation | None:
    arguments = _made(assignment, probe, probe.arguments)
    for name, change in changes.items():
        if any(each.name == name for each in _parameters(assignment, probe)):
            _change(arguments, name, change)
    try:
        names = [each.name for each in _parameters(assignment, probe)]
        return _call(probe, session, names, arguments, _made(assignment, probe, probe.first))
    except Spent:
        return None


def _made(assignment: Assignment, probe: Probe, recipes: Mapping[str, Recipe]) -> dict[str, object]:
    return {
        name: value(recipe, Rng(0, assignment.id, "probe", f"{probe.id} {name}"))
        for name, recipe in recipes.items()
    }


def _parameters(assignment: Assignment, probe: Probe) -> tuple[Parameter, ...]:
    for entry in assignment.entry_points:
        if entry.name == probe.function:
            return entry.parameters
    raise GraderError(f"probe {probe.id}: no entry point {probe.function}")


def _call(
    probe: Probe,
    session: Session,
    names: Sequence[str],
    arguments: Mapping[str, object],
    first: Mapping[str, object],
) -> Observation:
    given: dict[str, object] = dict(arguments)
    if probe.twice:
        for name, argument in arguments.items():
            if isinstance(argument, torch.Tensor):
                handle, seen = session.keep(argument)
                if handle is None:
                    return seen
                given[name] = handle
        ask(probe.function, session, names, given | dict(first))
    return ask(probe.function, session, names, given)


def ask(
    function: str, session: Session, names: Sequence[str], given: Mapping[str, object]
) -> Observation:
    """Call by place, as far as there is no gap: a submission may name its parameters otherwise.

    Behind a gap arguments are named first. Who has other names there raises a TypeError, and gets
    None in the gap, which stands for "not given" in every declared signature.
    """
    missing = [name for name in names if name not in given]
    gap = names.index(missing[0]) if missing else len(names)
    placed = [given[name] for name in names[:gap]]
    named = {name: given[name] for name in names[gap:] if name in given}
    seen = session.call(function, tuple(placed), named, allowance=ROOM)
    if named and isinstance(seen, Raised) and seen.type == "TypeError":
        last = max(names.index(name) for name in named)
        filled = tuple(given.get(name) for name in names[: last + 1])
        again = session.call(function, filled, {}, allowance=ROOM)
        return seen if isinstance(again, Raised) else again
    return seen


def value(recipe: Recipe, rng: Rng) -> object:
    """The argument that a recipe describes."""
    if recipe.number is not None:
        return recipe.number
    dtype = DTYPES[recipe.dtype] if recipe.dtype is not None else None
    if recipe.values is not None:
        return torch.tensor(list(recipe.values), dtype=dtype)
    return rng.tensor(*recipe.shape, low=recipe.low, high=recipe.high, dtype=dtype or torch.float32)


def _change(arguments: dict[str, object], name: str, change: Change) -> None:
    """What a mistaken caller would have passed instead."""
    if change.omit:
        arguments.pop(name, None)
        return
    if change.put is not None:
        arguments[name] = change.put
        return
    if name not in arguments and change.counted is not None:
        parameter, axis = change.counted
        counted = arguments[parameter]
        if isinstance(counted, torch.Tensor):
            arguments[name] = torch.arange(counted.shape[axis])
    current = arguments.get(name)
    if isinstance(current, torch.Tensor | int | float):
        arguments[name] = current * change.times + change.plus


def _cut(numbers: Numbers, probe: Probe) -> Numbers:
    if probe.last_rows is None or numbers.tensor is None or numbers.tensor.ndim < 2:
        return numbers
    return replace(numbers, tensor=numbers.tensor[..., -probe.last_rows :, :])


def _of(seen: Observation) -> Numbers:
    match seen:
        case Returned(value=torch.Tensor() as tensor):
            if tensor.is_complex():
                return Numbers()
            name = str(tensor.dtype).removeprefix("torch.")
            return Numbers(tensor=tensor.to(torch.float64), dtype=name)
        case Returned(value=bool() | int() | float() as number):
            return Numbers(tensor=torch.tensor(float(number), dtype=torch.float64), dtype="float")
        case Returned(value=str()):
            return Numbers(kind="text")
        case Returned(value=None):
            return Numbers(kind="none")
        case Returned(value=tuple() | list()):
            return Numbers(kind="several")
        case Raised():
            message = re.sub(r"\d+", "#", clean(seen.message, 200))
            return Numbers(raised=f"{seen.type}: {message}")
    return Numbers()
