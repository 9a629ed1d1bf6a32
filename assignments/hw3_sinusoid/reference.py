# torchgrade: hw3
"""The model solution of hw3."""

import math


def sinusoid_value(pos: int, i: int, d_model: int, base: float = 10000.0) -> float:
    """The sine of pair `i` at position `pos`."""
    return math.sin(pos / base ** (2 * i / d_model))


def sinusoid_period(i: int, d_model: int, base: float = 10000.0) -> float:
    """How many positions the angle of pair `i` needs for a full turn of 2π."""
    return 2 * math.pi * base ** (2 * i / d_model)
