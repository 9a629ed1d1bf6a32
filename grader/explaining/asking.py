"""What is asked and answered: probes with their arguments, and when two answers agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from grader.explaining.rules import Mistake
from grader.model import Probe

Array = Any

# As in `diagnosis`: what separates float32 rounding from another answer.
ATOL, RTOL = 3e-4, 2e-4


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


def side_by_side(group: Questions) -> Question:
    """Calls with plain numbers as one call with rows of them; what one leaves out is NaN."""
    names = dict.fromkeys(name for each in group for name in each.arguments)
    arguments: dict[str, object] = {
        name: np.array([each.arguments.get(name, np.nan) for each in group]) for name in names
    }
    return Question(probe=group[0].probe, arguments=arguments, first={})


def array(value: object, dtype: str) -> Array:
    if isinstance(value, torch.Tensor):
        value = value.to(torch.float64).numpy()
    return np.asarray(value, dtype=dtype) if value is not None else None


def close(one: Array, other: Array) -> Array:
    return np.isclose(one, other, rtol=RTOL, atol=ATOL, equal_nan=True)


def agree_at(answer: Seen, given: Array) -> Array:
    with np.errstate(all="ignore"):
        agreeing = np.asarray(close(answer.value, given))
        # A tiny number is no zero.
        return agreeing & ((answer.value == 0) == (given == 0)) if answer.exact else agreeing


def lost_at(given: Array, rough: Array | None) -> Array:
    """Where the same formulas in 32 bits give another number."""
    if rough is None or rough.shape != given.shape:
        return np.zeros(given.shape, dtype=bool)
    with np.errstate(all="ignore"):
        return ~np.isclose(rough, given, rtol=RTOL / 4, atol=ATOL / 4, equal_nan=True)


def in_one_row(values: Sequence[Array]) -> Answers:
    return tuple(each.shape for each in values), np.concatenate(
        [each.reshape(-1) for each in values]
    )


def row_of(group: Questions, seen: Mapping[str, Seen]) -> Answers:
    return in_one_row([seen[each.probe.id].value for each in group])
