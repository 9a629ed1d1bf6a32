"""Which calls a submission answers rightly: what those have in common, and the others have not.

A function that was written for one shape, one type of mask or calls without positions is right
there and fails elsewhere. Nothing is guessed: a case is told only where it divides the calls
exactly, the right ones on one side and all others on the other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from grader.explaining.asking import Question
from grader.model import Json

Ids = frozenset[str]
Fits = Callable[[Question], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Calls with something in common.

    Args:
        code: what, as the texts name it.
        only: whether "works only in this case" can be said of it.
        never: whether "does not work in this case" can.
        broad: whether it may be told together with another one.
    """

    code: str
    args: Mapping[str, Json]
    ids: Ids
    only: bool = True
    never: bool = True
    broad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a case: the calls on it, and how it is told that only these work."""

    ids: Ids
    code: str
    args: Mapping[str, Json]
    broad: bool


def sides(questions: Sequence[Question]) -> list[Side]:
    """Every set of calls of which a sentence says that only these work; the plainest first."""
    everything = frozenset(each.probe.id for each in questions)
    found: dict[Ids, Side] = {}
    doubtful: set[Ids] = set()
    for case in _cases(questions):
        for told, ids, code in (
            (case.only, case.ids, f"{case.code}_only"),
            (case.never, everything - case.ids, f"{case.code}_never"),
        ):
            if not told or not ids or ids == everything:
                continue
            side = Side(ids=ids, code=code, args=case.args, broad=case.broad)
            if found.setdefault(ids, side) != side and found[ids].code == code == "value_never":
                # Which of two arguments it is cannot be seen.
                doubtful.add(ids)
    return [each for ids, each in found.items() if ids not in doubtful]


def dividing(known: Sequence[Side], right: Ids) -> tuple[Side, ...] | None:
    """The side, or the two, on which the right answers are, and nothing else."""
    for each in known:
        if each.ids == right:
            return (each,)
    broad = [each for each in known if each.broad and right < each.ids]
    for at, one in enumerate(broad):
        for other in broad[at + 1 :]:
            if one.ids & other.ids == right:
                return one, other
    return None


def _cases(questions: Sequence[Question]) -> Iterator[Case]:
    """What calls can have in common, from the plainest to the strangest."""
    yield from _given(questions)
    again = _where(questions, lambda each: each.probe.twice)
    yield Case(code="again", args={}, ids=again, only=False, broad=True)
    parameters = dict.fromkeys(name for each in questions for name in each.arguments)
    for name in parameters:
        yield from _axes(questions, name)
        yield from _types(questions, name)
    yield from _positions(questions, list(parameters))
    for name in parameters:
        yield from _sizes(questions, name)
        yield from _values(questions, name)


def _given(questions: Sequence[Question]) -> Iterator[Case]:
    for name in dict.fromkeys(name for each in questions for name in each.arguments):
        ids = frozenset(each.probe.id for each in questions if name in each.arguments)
        yield Case(code="given", args={"parameter": name}, ids=ids, broad=True)


def _axes(questions: Sequence[Question], name: str) -> Iterator[Case]:
    tensors = _tensors(questions, name)
    for axes in sorted({each.ndim for each in tensors.values()}):
        ids = frozenset(id for id, each in tensors.items() if each.ndim == axes)
        yield Case(code="axes", args={"parameter": name, "axes": axes}, ids=ids, broad=True)
    for axes in sorted({each.ndim for each in tensors.values()})[1:-1]:
        # Between two and four axes there is three: "at least" and "at most" are cases of their own.
        ids = frozenset(id for id, each in tensors.items() if each.ndim >= axes)
        yield Case(code="axes_from", args={"parameter": name, "axes": axes}, ids=ids, broad=True)


def _types(questions: Sequence[Question], name: str) -> Iterator[Case]:
    tensors = _tensors(questions, name)
    for dtype in dict.fromkeys(each.dtype for each in tensors.values()):
        ids = frozenset(id for id, each in tensors.items() if each.dtype == dtype)
        told = str(dtype).removeprefix("torch.")
        yield Case(code="dtype", args={"parameter": name, "dtype": told}, ids=ids, broad=True)
    floats = frozenset(id for id, each in tensors.items() if each.is_floating_point())
    truths = frozenset(id for id, each in tensors.items() if each.dtype == torch.bool)
    yield Case(code="kind_float", args={"parameter": name}, ids=floats, broad=True)
    whole = frozenset(tensors) - floats - truths
    yield Case(code="kind_whole", args={"parameter": name}, ids=whole, broad=True)


def _positions(questions: Sequence[Question], names: Sequence[str]) -> Iterator[Case]:
    """Row numbers that lie behind the last row of the first argument, and far ones."""
    if not names:
        return
    first = _tensors(questions, names[0])
    for name in names[1:]:
        places = {
            id: int(each.max())
            for id, each in _tensors(questions, name).items()
            if each.dtype == torch.int64 and each.ndim == 1 and id in first and first[id].ndim > 1
        }
        args: dict[str, Json] = {"parameter": name, "first": names[0]}
        beyond = frozenset(id for id, place in places.items() if place >= first[id].shape[-2])
        yield Case(code="beyond", args=args, ids=beyond, only=False)
        # Positions that are counted go up to the number of rows.
        farthest = {
            id: places.get(id, each.shape[-2] - 1) for id, each in first.items() if each.ndim > 1
        }
        for place in sorted(set(farthest.values()))[1:] if places else ():
            far = frozenset(id for id, each in farthest.items() if each >= place)
            yield Case(code="far", args={"parameter": name, "place": place}, ids=far, only=False)


def _sizes(questions: Sequence[Question], name: str) -> Iterator[Case]:
    tensors = _tensors(questions, name)
    for shape in dict.fromkeys(tuple(each.shape) for each in tensors.values()):
        ids = frozenset(id for id, each in tensors.items() if tuple(each.shape) == shape)
        told: Json = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
        if len(ids) > 1:
            yield Case(code="shape", args={"parameter": name, "shape": told}, ids=ids, never=False)
    alike = frozenset(
        id for id, each in tensors.items() if each.ndim > 2 and each.shape[0] == each.shape[1] > 1
    )
    yield Case(code="alike", args={"parameter": name}, ids=alike, only=False)
    one = frozenset(id for id, each in tensors.items() if each.ndim > 1 and 1 in each.shape)
    yield Case(code="size_one", args={"parameter": name}, ids=one, only=False)
    for rows in sorted({each.shape[-2] for each in tensors.values() if each.ndim > 1})[1:]:
        ids = frozenset(
            id for id, each in tensors.items() if each.ndim > 1 and each.shape[-2] >= rows
        )
        yield Case(code="rows", args={"parameter": name, "rows": rows}, ids=ids, only=False)


def _values(questions: Sequence[Question], name: str) -> Iterator[Case]:
    numbers = {
        each.probe.id: value
        for each in questions
        if isinstance(value := each.arguments.get(name), int | float)
    }
    for value in dict.fromkeys(numbers.values()):
        ids = frozenset(id for id, each in numbers.items() if each == value)
        args: dict[str, Json] = {"parameter": name, "value": f"{value:g}"}
        yield Case(code="value", args=args, ids=ids, only=False)
    not_finite = _where(
        questions,
        lambda each: (
            isinstance(value := each.arguments.get(name), torch.Tensor)
            and value.is_floating_point()
            and not bool(value.isfinite().all())
        ),
    )
    yield Case(code="not_finite", args={"parameter": name}, ids=not_finite, only=False)


def _where(questions: Sequence[Question], fits: Fits) -> Ids:
    return frozenset(each.probe.id for each in questions if fits(each))


def _tensors(questions: Sequence[Question], name: str) -> dict[str, torch.Tensor]:
    return {
        each.probe.id: value
        for each in questions
        if isinstance(value := each.arguments.get(name), torch.Tensor)
    }
