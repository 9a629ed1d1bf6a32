"""A submission that takes tensors of one shape only, called in that shape.

A criterion that is not about shapes should not charge for them: its tests are written for the
plainest shape, and a submission that wants more axes gets them, of length 1, in front.
"""

from collections.abc import Callable, Sequence

import torch

from grader.sandbox import wire
from grader.suite.student import Student

Call = Callable[..., torch.Tensor | float]


class Kept:
    """A tensor that stays in the worker, with as many axes as its place in a call needs."""

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value
        self.handles: dict[int, wire.Handle] = {}


class InShape:
    """`student`, whose positional arguments get axes in front and whose results lose them.

    Args:
        student: stays reachable as `as_it_is`.
        axes: how many for each positional argument; the result loses those of the first.
    """

    def __init__(self, student: Student, axes: Sequence[int]) -> None:
        self.as_it_is = student
        self._axes = tuple(axes)
        student.axes = self._axes

    def __getattr__(self, name: str) -> Call:
        function = getattr(self.as_it_is, name)

        def call(*args: object, **kwargs: object) -> torch.Tensor | float:
            given = [self._given(each, at) for at, each in enumerate(args)]
            named = {key: self._in_worker(each, 0) for key, each in kwargs.items()}
            seen = function(*given, **named)
            return seen[(0,) * self._axes[0]] if isinstance(seen, torch.Tensor) else seen

        return call

    def keep(self, value: torch.Tensor) -> Kept:
        """The same object each time that it is passed, as with `student.keep`."""
        return Kept(value)

    def _given(self, value: object, at: int) -> object:
        return self._in_worker(value, self._axes[at] if at < len(self._axes) else 0)

    def _in_worker(self, value: object, axes: int) -> object:
        match value:
            case Kept():
                if axes not in value.handles:
                    value.handles[axes] = self.as_it_is.keep(_with_axes(value.value, axes))
                return value.handles[axes]
            case torch.Tensor():
                return _with_axes(value, axes)
        return value


def _with_axes(value: torch.Tensor, axes: int) -> torch.Tensor:
    return value.reshape(*(1,) * axes, *value.shape)
