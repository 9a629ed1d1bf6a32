"""Near misses: what stands between a submission's numbers and the right ones."""

from collections.abc import Sequence

import torch

from grader.explaining.knowledge import ATOL, COARSE, RTOL
from grader.model import Json

_WRITTEN_OUT = 10_000_000

Pairs = Sequence[tuple[torch.Tensor, torch.Tensor]]
Args = dict[str, Json]
Told = tuple[str, Args]


def plain(pairs: Pairs) -> Told | None:
    """One simple step between right and seen: an axis, a sign, a factor, an offset, one row."""
    if all(close(left, right.mT) for left, right in pairs if right.ndim >= 2) and all(
        right.ndim >= 2 for _, right in pairs
    ):
        return "transposed", {}
    if any(left.shape != right.shape for left, right in pairs):
        return None
    if (factor := _factor(pairs)) is not None:
        return ("negated", {}) if _is(factor, -1.0) else ("scaled", {"factor": digits(factor)})
    if (offset := _offset(pairs)) is not None:
        return "offset", {"offset": digits(offset)}
    return _shifted(pairs)


def partial(pairs: Pairs) -> Told | None:
    """What is right in part: all rows but one, the right values in another order, few digits."""
    if any(left.shape != right.shape for left, right in pairs):
        return None
    return _rows(pairs) or _order(pairs) or _rows_order(pairs) or _coarse(pairs)


def _factor(pairs: Pairs) -> float | None:
    """The one number by which all right values were multiplied."""
    left, right = _flat(pairs)
    largest = int(right.abs().argmax())
    if right[largest] == 0 or left[largest] == 0:
        return None
    factor = float(left[largest] / right[largest])
    return factor if close(left, right * factor) and not _is(factor, 1.0) else None


def _offset(pairs: Pairs) -> float | None:
    """The one number that was added to all right values (a single value proves nothing)."""
    left, right = _flat(pairs)
    if left.numel() < 3:
        return None
    offset = float((left - right).mean())
    return offset if close(left, right + offset) and abs(offset) > ATOL else None


def _shifted(pairs: Pairs) -> Told | None:
    """Rows of the second last axis, all shifted by one."""
    if not _have_rows(pairs):
        return None
    if all(close(left[..., 1:, :], right[..., :-1, :]) for left, right in pairs):
        return "row_late", {}
    if all(close(left[..., :-1, :], right[..., 1:, :]) for left, right in pairs):
        return "row_early", {}
    return None


def _rows(pairs: Pairs) -> Told | None:
    """Only the first or the last row wrong, or all sequences of a batch but the first."""
    if not _have_rows(pairs):
        return None
    if all(close(left[..., 1:, :], right[..., 1:, :]) for left, right in pairs):
        return "first_row", {}
    if all(close(left[..., :-1, :], right[..., :-1, :]) for left, right in pairs):
        return "last_row", {}
    batched = [(left, right) for left, right in pairs if right.ndim >= 3 and right.shape[0] > 1]
    if batched and all(close(left[:1], right[:1]) for left, right in batched):
        return "first_of_batch", {}
    return None


def _have_rows(pairs: Pairs) -> bool:
    """Whether one row is a small part of the rows, at least on one probe."""
    return all(right.ndim >= 2 and right.shape[-2] >= 2 for _, right in pairs) and any(
        right.shape[-2] >= 3 for _, right in pairs
    )


def _order(pairs: Pairs) -> Told | None:
    """The right values of each row, in another order."""
    if any(right.ndim < 1 or right.shape[-1] < 2 for _, right in pairs):
        return None
    if all(close(left.sort(-1).values, right.sort(-1).values) for left, right in pairs):
        return "columns", {}
    return None


def _rows_order(pairs: Pairs) -> Told | None:
    """The right rows, in another order."""
    if any(right.ndim < 2 or right.shape[-1] < 2 for _, right in pairs):
        return None
    if all(close(left.sort(-2).values, right.sort(-2).values) for left, right in pairs):
        return "rows", {}
    return None


def _coarse(pairs: Pairs) -> Told | None:
    """Right to two or three digits and no more: somewhere the precision was lost."""
    if all(bool(torch.allclose(left, right, atol=COARSE, rtol=COARSE)) for left, right in pairs):
        worst = max(float((left - right).abs().max()) for left, right in pairs)
        return "coarse", {"error": digits(worst)}
    return None


def _flat(pairs: Pairs) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        torch.cat([left.reshape(-1) for left, _ in pairs]),
        torch.cat([right.reshape(-1) for _, right in pairs]),
    )


def close(left: torch.Tensor, right: torch.Tensor) -> bool:
    return left.shape == right.shape and bool(torch.allclose(left, right, atol=ATOL, rtol=RTOL))


def _is(value: float, other: float) -> bool:
    return abs(value - other) <= RTOL


def digits(value: float) -> str:
    """Four digits, and whole numbers as people write them."""
    if value == round(value) and abs(value) < _WRITTEN_OUT:
        return str(int(value))
    return f"{value:.4g}"
