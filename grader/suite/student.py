"""`student`: the submission as suites see it; calls cross the boundary, values come checked."""

import math
from collections.abc import Callable, Mapping

import torch

from grader.claims import clean
from grader.errors import AssignmentError
from grader.model import Died, EntryPoint, Observation, Raised, Result, Returned
from grader.sandbox import wire
from grader.sandbox.session import SMALLEST_ALLOWANCE, Session
from grader.suite.compare import Mismatch, shape_text

# A right answer in another width (float64, complex128 for float32) still fits.
WIDTHS = 4
FAMILIES: dict[str, Callable[[torch.dtype], bool]] = {
    "float": lambda dtype: dtype.is_floating_point,
    "complex": lambda dtype: dtype.is_complex,
    "bool": lambda dtype: dtype == torch.bool,
    "integer": lambda dtype: (
        not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool)
    ),
}


class Unanswered(Exception):
    """A call that gave no value; the observation is the reason that the test fails."""

    def __init__(self, function: str, observation: Raised | Died) -> None:
        super().__init__(function, observation)
        self.function = function
        self.observation = observation


class Student:
    """The submission of one test: `student.NAME(...)` calls NAME in the worker.

    Args:
        entry_points: the declared functions; other names are a mistake of the suite.
    """

    def __init__(self, session: Session, entry_points: Mapping[str, EntryPoint]) -> None:
        self._session = session
        self._entry_points = entry_points
        self._kept: dict[wire.Handle, torch.Tensor] = {}
        # Axes that were put in front of the positional arguments, see `shapes.InShape`.
        self.axes: tuple[int, ...] = ()
        self.last_call = ""
        self.last_arguments: tuple[object, ...] = ()

    def __getattr__(self, name: str) -> Callable[..., torch.Tensor | float]:
        """The entry point as a function that returns a checked value or ends the test."""
        entry = self._entry_point(name)

        def call(*args: object, **kwargs: object) -> torch.Tensor | float:
            seen = self.observe(name, *args, **kwargs)
            if not isinstance(seen, Returned):
                raise Unanswered(name, seen)
            return _checked(entry, seen, self._like(entry, args, kwargs))

        return call

    def observe(self, name: str, /, *args: object, **kwargs: object) -> Observation:
        """What calling the entry point gives, whatever that is."""
        entry = self._entry_point(name)
        self.last_call, self.last_arguments = name, (*args, *kwargs.values())
        allowance = self._allowance(entry, args, kwargs)
        return self._session.call(name, args, kwargs, allowance=allowance)

    def keep(self, value: torch.Tensor) -> wire.Handle:
        """A tensor that stays in the worker: the same object each time that it is passed."""
        handle, seen = self._session.keep(value)
        if handle is None:
            raise Unanswered(self.last_call, _no_value(seen))
        self._kept[handle] = value
        return handle

    def new(self, name: str, /, *args: object, **kwargs: object) -> "Kept":
        """An object of the submission's class `name`; it stays in the worker."""
        handle, seen = self._session.new(name, args, kwargs)
        self.last_call, self.last_arguments = name, args
        if handle is None:
            raise Unanswered(name, _no_value(seen))
        return Kept(self, handle, name)

    def ref(self, name: str) -> wire.Ref:
        """A function of the submission, to be passed as an argument; it never leaves the worker."""
        return wire.Ref(name)

    def _entry_point(self, name: str) -> EntryPoint:
        if name not in self._entry_points:
            raise AssignmentError(
                f"the suite calls student.{name}, which assignment.toml does not declare"
                f" (entry points: {', '.join(self._entry_points)})"
            )
        return self._entry_points[name]

    def _like(
        self, entry: EntryPoint, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> torch.Tensor | None:
        """The argument whose shape the result must have."""
        names = [parameter.name for parameter in entry.parameters]
        given = dict(zip(names, args, strict=False)) | dict(kwargs)
        value = given.get(entry.result.like or "")
        if isinstance(value, wire.Handle):
            value = self._kept.get(value)
        return value if isinstance(value, torch.Tensor) else None

    def _allowance(
        self, entry: EntryPoint, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> int:
        like = self._like(entry, args, kwargs)
        size = 0 if like is None else like.numel() * max(4, like.element_size())
        return max(SMALLEST_ALLOWANCE, WIDTHS * size)


class Kept:
    """An object of the submission that lives in the worker, for the test that made it."""

    def __init__(self, student: Student, handle: wire.Handle, name: str) -> None:
        self._student = student
        self._handle = handle
        self._name = name

    def observe(self, method: str, /, *args: object, **kwargs: object) -> Observation:
        """What the method gives; tensors in the answer may be four times those in the call."""
        size = sum(
            each.numel() * max(4, each.element_size())
            for each in (*args, *kwargs.values())
            if isinstance(each, torch.Tensor)
        )
        return self._student._session.method(
            self._handle,
            method,
            args,
            kwargs,
            allowance=max(SMALLEST_ALLOWANCE, WIDTHS * size),
        )

    def __call__(self, *args: object, **kwargs: object) -> object:
        seen = self.observe("__call__", *args, **kwargs)
        if not isinstance(seen, Returned):
            raise Unanswered(self._name, seen)
        return seen.value


def _no_value(seen: Observation) -> Raised | Died:
    return seen if isinstance(seen, Raised | Died) else Died(cause="garbled")


def _checked(entry: EntryPoint, seen: Returned, like: torch.Tensor | None) -> torch.Tensor | float:
    """The value as its declared kind.

    Raises:
        Mismatch: when kind, shape or dtype family is another.
    """
    value = seen.value
    if entry.result.kind == "number":
        return _number(entry, value, is_numpy=seen.claims.get("kind") == "numpy")
    if isinstance(value, wire.Oversized):
        raise Mismatch("mismatch.shape", expected=_shape_of(like), got=_outline(value))
    if not isinstance(value, torch.Tensor):
        raise _wrong_kind(entry.name, value, "tensor")
    if like is not None and value.shape != like.shape:
        raise Mismatch("mismatch.shape", expected=_shape_of(like), got=shape_text(value))
    _check_family(entry.result, value)
    return value


def _number(entry: EntryPoint, value: object, *, is_numpy: bool) -> float:
    if isinstance(value, torch.Tensor) and value.ndim == 0:
        _check_family(entry.result, value, or_integer=True)
        value = value.item()
    if isinstance(value, torch.Tensor | wire.Oversized):
        # The kind is a claim of the worker, and only words depend on it.
        code = f"mismatch.several.{'array' if is_numpy else 'tensor'}"
        raise Mismatch(code, function=entry.name, got=_outline(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_kind(entry.name, value, "number")
    # Squares and products of what is larger would overflow in the suites' own arithmetic.
    return math.copysign(math.inf, value) if abs(value) >= 1e300 else float(value)


def _check_family(result: Result, value: torch.Tensor, *, or_integer: bool = False) -> None:
    families = [result.family, *(["integer"] if or_integer else [])]
    if not any(FAMILIES[family](value.dtype) for family in families):
        raise Mismatch(
            "mismatch.family",
            expected=result.family,
            got=str(value.dtype).removeprefix("torch."),
        )


def _wrong_kind(function: str, value: object, wanted: str) -> Mismatch:
    if value is None:
        return Mismatch(f"mismatch.none.{wanted}", function=function)
    return Mismatch(f"mismatch.kind.{wanted}", function=function, got=_kind(value))


def _kind(value: object) -> str:
    match value:
        case wire.Foreign():
            return clean(value.type, 100)
    return type(value).__name__


def _outline(value: torch.Tensor | wire.Oversized) -> str:
    return f"({', '.join(map(str, value.shape))}{',' if len(value.shape) == 1 else ''})"


def _shape_of(like: torch.Tensor | None) -> str:
    return "?" if like is None else shape_text(like)
