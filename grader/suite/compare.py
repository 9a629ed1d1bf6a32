"""Comparing what a submission returned with what is right; used by suites.

Plain tensor arithmetic on float64 copies. `torch.testing.assert_close` would import sympy (half a
second in a fresh process), and its default tolerances fail right float32 code.
"""

import math
from collections.abc import Callable, Sequence

import torch

from grader.model import Json
from grader.suite.finite import finite
from grader.texts import catalog

SHOWN_DIGITS = 4
LONGEST_ROW = 8


class Mismatch(Exception):
    """A result that is not the right one: the code and arguments of the sentence that says so.

    Args:
        code: a sentence of `grader/texts`, or, when `own`, of the assignment's `texts.toml`.
        later: makes the arguments when somebody asks; a suite may compare with several answers
            and catch all but the last, and printing tensors costs more than comparing them.
    """

    def __init__(
        self,
        code: str,
        *,
        own: bool = False,
        later: Callable[[], dict[str, object]] | None = None,
        **args: object,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.own = own
        self._later = later or (lambda: args)
        self._told: dict[str, Json] | None = None

    @property
    def told(self) -> dict[str, Json]:
        """The arguments of the sentence, all of them finite JSON."""
        if self._told is None:
            self._told = {name: finite(value) for name, value in self._later().items()}
        return self._told

    def __str__(self) -> str:
        return f"{self.code} {self.told}" if self.own else catalog.say("en", self.code, **self.told)


def assert_close(
    seen: torch.Tensor | float, want: torch.Tensor | float, *, atol: float, rtol: float = 0.0
) -> None:
    """Fail unless both agree in shape and value, whatever their dtypes.

    Args:
        seen: what the submission returned.
        want: the right values, best in float64.
        atol: bound on |seen - want|, after both are float64; NaN never agrees.
        rtol: added to `atol` as rtol * |want|.

    Raises:
        Mismatch: with the first differing index and both values there.
    """
    left, right = _wide(seen), _wide(want)
    _same_shape(left, right)
    agree = _agree(left, right, atol=atol, rtol=rtol)
    if not bool(agree.all()):
        raise _difference(left, right, agree)


def assert_equal(seen: torch.Tensor | float, want: torch.Tensor | float) -> None:
    """Fail unless both have the same shape and exactly the same values (-0.0 equals 0.0).

    Raises:
        Mismatch: with the first differing index and both values there.
    """
    assert_close(seen, want, atol=0.0)


def assert_dtype(seen: torch.Tensor, dtype: torch.dtype) -> None:
    """Fail unless the tensor has this dtype.

    Raises:
        Mismatch: naming both.
    """
    if seen.dtype != dtype:
        raise Mismatch("mismatch.dtype", expected=_name(dtype), got=_name(seen.dtype))


def assert_like_own(
    seen: torch.Tensor | float,
    own: torch.Tensor | float,
    *,
    code: str,
    atol: float,
    rtol: float = 0.0,
    **args: object,
) -> None:
    """Fail unless the submission agrees with other numbers of its own.

    Such numbers are no right answer's, so they are never called `expected`: the sentence says
    whose they are.

    Args:
        code: a sentence of the assignment's `texts.toml`; besides `args` it may use `{index}`,
            where the first difference is, and the two numbers there: `{seen}` and `{own}`.

    Raises:
        Mismatch: with that sentence.
    """
    left, right = _wide(seen), _wide(own)
    agree = _agree(left, right, atol=atol, rtol=rtol) if left.shape == right.shape else None
    if agree is None or not bool(agree.all()):
        raise Mismatch(code, own=True, later=lambda: {**args, **_own(left, right, agree)})


def fail(code: str, **args: object) -> None:
    """Fail with a sentence of the assignment's own `texts.toml`.

    Raises:
        Mismatch: always.
    """
    raise Mismatch(code, own=True, later=lambda: args)


def close(seen: torch.Tensor, want: torch.Tensor, *, atol: float, rtol: float = 0.0) -> bool:
    """Whether `assert_close` would pass."""
    try:
        assert_close(seen, want, atol=atol, rtol=rtol)
    except Mismatch:
        return False
    return True


def _agree(left: torch.Tensor, right: torch.Tensor, *, atol: float, rtol: float) -> torch.Tensor:
    # Infinities agree when they are the same; their difference is NaN and says nothing, and a
    # bound relative to one of them would be infinite.
    apart = (left - right).abs()
    return (torch.isfinite(apart) & (apart <= atol + rtol * right.abs())) | (
        (left == right) & torch.isinf(right)
    )


def _wide(value: torch.Tensor | float) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        # `as_tensor` alone would make it float32: 1e-300 would become 0.
        return torch.as_tensor(value, dtype=torch.float64)
    tensor = value.detach()
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _same_shape(left: torch.Tensor, right: torch.Tensor) -> None:
    if left.shape != right.shape:
        raise Mismatch("mismatch.shape", expected=shape_text(right), got=shape_text(left))


def _difference(left: torch.Tensor, right: torch.Tensor, agree: torch.Tensor) -> Mismatch:
    if left.ndim == 0:
        want, seen = _distinct(right, left)
        return Mismatch("mismatch.number", expected=want, got=seen)
    return Mismatch("mismatch.values", later=lambda: _told(left, right, agree))


def _own(left: torch.Tensor, right: torch.Tensor, agree: torch.Tensor | None) -> dict[str, object]:
    if agree is None:
        return {"index": "[]", "seen": shape_text(left), "own": shape_text(right)}
    index = _first(agree)
    own, seen = _distinct(right[tuple(index)], left[tuple(index)])
    return {"index": f"[{', '.join(map(str, index))}]", "seen": seen, "own": own}


def _first(agree: torch.Tensor) -> list[int]:
    # The first in row-major order: argmin over bytes finds the first False.
    return _unraveled(int(agree.reshape(-1).to(torch.uint8).argmin()), agree.shape)


def _told(left: torch.Tensor, right: torch.Tensor, agree: torch.Tensor) -> dict[str, object]:
    index = _first(agree)
    want, seen = _distinct(right[tuple(index)], left[tuple(index)])
    return {
        "index": f"[{', '.join(map(str, index))}]",
        "expected_there": want,
        "got_there": seen,
        "expected": _row(right, index),
        "got": _row(left, index),
        "wrong": int((~agree).sum()),
        "total": agree.numel(),
    }


def _unraveled(flat: int, shape: Sequence[int]) -> list[int]:
    """The index of the element `flat`; `torch.unravel_index` would import sympy."""
    index: list[int] = []
    for size in reversed(shape):
        flat, at = divmod(flat, size)
        index.insert(0, at)
    return index


def _distinct(right: torch.Tensor, left: torch.Tensor) -> tuple[str, str]:
    """Both numbers with as many digits as it takes to see that they differ."""
    for digits in range(SHOWN_DIGITS, 18):
        want, seen = number_text(right.item(), digits), number_text(left.item(), digits)
        if want != seen:
            break
    return want, seen


def number_text(value: complex, digits: int = SHOWN_DIGITS) -> str:
    """A number with so many significant digits, as Python would write it."""
    if isinstance(value, complex):
        return f"{value.real:.{digits}g}{value.imag:+.{digits}g}j"
    if value == 0:
        return "0.0"
    text = f"{value:.{digits}g}"
    return text if "e" in text or "." in text or not math.isfinite(value) else text + ".0"


def shape_text(tensor: torch.Tensor) -> str:
    return f"({', '.join(map(str, tensor.shape))}{',' if tensor.ndim == 1 else ''})"


def _row(tensor: torch.Tensor, index: list[int]) -> str:
    """All of a small tensor, else the row of the last axis in which the difference lies."""
    if tensor.numel() <= LONGEST_ROW:
        return _nested(tensor)
    row = tensor[tuple(index[:-1])]
    start = max(0, min(index[-1] - LONGEST_ROW // 2, row.numel() - LONGEST_ROW))
    stop = min(row.numel(), start + LONGEST_ROW)
    numbers = [number_text(each) for each in row[start:stop].tolist()]
    before, after = ["..."] * (start > 0), ["..."] * (stop < row.numel())
    where = ", ".join([*map(str, index[:-1]), ":"])
    prefix = f"[{where}] = " if tensor.ndim > 1 else ""
    return f"{prefix}[{', '.join([*before, *numbers, *after])}]"


def _nested(tensor: torch.Tensor) -> str:
    if tensor.ndim == 0:
        return number_text(tensor.item())
    return f"[{', '.join(_nested(each) for each in tensor)}]"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
