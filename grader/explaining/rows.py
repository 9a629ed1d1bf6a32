"""Rows of numbers as words of ASCII: a third of the room of their digits."""

import base64
import struct
from collections.abc import Sequence
from typing import Any


def packed(values: Sequence[Any]) -> str:
    """The numbers (or "nan", "inf", "-inf") in 32 bits where those hold them, else in 64."""
    numbers = [float(each) for each in values]
    kind = "f" if all(_fits(each) for each in numbers) else "d"
    return f"{kind}:{base64.b64encode(struct.pack(f'<{len(numbers)}{kind}', *numbers)).decode()}"


def plain(values: str | Sequence[Any]) -> list[float]:
    """The numbers of `packed`; a list stays as it is.

    Raises:
        ValueError: when it is neither.
    """
    if not isinstance(values, str):
        return [float(each) for each in values]
    kind, _, word = values.partition(":")
    content = base64.b64decode(word, validate=True)
    size = {"f": 4, "d": 8}.get(kind)
    if size is None or len(content) % size:
        raise ValueError(f"no numbers: {values[:40]!r}")
    return [*struct.unpack(f"<{len(content) // size}{kind}", content)]


def _fits(value: float) -> bool:
    """Whether 32 bits hold the number as well as it is known: dyadic, or rounded to five digits."""
    if value != value or value in (float("inf"), float("-inf"), 0.0):
        return True
    if not 1e-37 < abs(value) < 3e38:
        return False
    (back,) = struct.unpack("<f", struct.pack("<f", value))
    return bool(back == value or float(f"{value:.5g}") == value)
