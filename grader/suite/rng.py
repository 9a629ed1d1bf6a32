"""Fresh inputs for hidden tests: the same for a whole class, different for every seed.

The numbers are dyadic (k/1024), exact in float32 and bfloat16-safe to convert, and come from
Python's `random`, because torch's generators differ in their last bits between CPUs.
"""

import hashlib
import math
import random
from collections.abc import Sequence
from typing import TypeVar

import torch

Element = TypeVar("Element")


class Rng:
    """Random inputs that depend on seed, assignment, test function and parameter alone."""

    def __init__(self, seed: int, assignment: str, test: str, parameter: str = "") -> None:
        key = "\0".join((str(seed), assignment, test, parameter)).encode()
        self._random = random.Random(int.from_bytes(hashlib.sha256(key).digest(), "big"))

    def tensor(
        self,
        *shape: int,
        low: float = -2.0,
        high: float = 2.0,
        dtype: torch.dtype = torch.float32,
    ) -> torch.Tensor:
        """A tensor of dyadic numbers k/1024 in [low, high], none of them 0."""
        numbers = torch.tensor(self._numbers(math.prod(shape), low, high), dtype=torch.float64)
        return numbers.to(dtype).reshape(shape)

    def _numbers(self, count: int, low: float, high: float) -> list[float]:
        # As `integer` draws them, spelled out: thousands of numbers are drawn for a submission.
        draw = self._random.random
        first, last = math.ceil(low * 1024), math.floor(high * 1024)
        span = last - first + 1
        numbers: list[float] = []
        while len(numbers) < count:
            if k := first + int(draw() * span):
                numbers.append(k / 1024)
        return numbers

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        # Spelled out with `random()` alone: its sequence is promised to stay across versions.
        return low + int(self._random.random() * (high - low + 1))

    def integers(self, *shape: int, low: int, high: int) -> torch.Tensor:
        """An int64 tensor of integers in [low, high]."""
        numbers = [self.integer(low, high) for _ in range(math.prod(shape))]
        return torch.tensor(numbers, dtype=torch.int64).reshape(shape)

    def permutation(self, count: int) -> list[int]:
        """The numbers 0 to count - 1 in a random order."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.integer(0, last)
            order[last], order[other] = order[other], order[last]
        return order

    def choice(self, options: Sequence[Element]) -> Element:
        """One of the options."""
        return options[self.integer(0, len(options) - 1)]
