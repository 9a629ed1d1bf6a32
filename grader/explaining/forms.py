"""Right numbers in another form: axes in another order, too many or too few, parts of them."""

from collections.abc import Callable, Sequence
from itertools import permutations

import torch

from grader.explaining.near import Pairs, Told, close
from grader.model import Json

_ENOUGH = 24
_MOST_AXES = 4

Tensor = torch.Tensor
Test = Callable[[Tensor, Tensor], bool]


def form(pairs: Pairs) -> Told | None:
    """The one change of form that stands between all these answers and the right ones.

    Where the form makes no difference (an axis of size 1), an answer may be right.
    """
    if len(pairs) < 2 and sum(left.numel() for left, _ in pairs) < _ENOUGH:
        return None
    changed = [(left, right) for left, right in pairs if not close(left, right)]
    if not changed:
        return None
    for code, test in _TESTS:
        if all(test(left, right) for left, right in changed):
            left, right = changed[0]
            return code, {"seen": _shape(left), "right": _shape(right)}
    return None


def _shape(tensor: Tensor) -> Json:
    sizes = ", ".join(map(str, tensor.shape))
    return f"({sizes},)" if tensor.ndim == 1 else f"({sizes})"


def _one_element(left: Tensor, right: Tensor) -> bool:
    return right.ndim == 0 and left.numel() == 1 and close(left.reshape(()), right)


def _vector(left: Tensor, right: Tensor) -> bool:
    return right.ndim == 0 and left.numel() > 1


def _axes_swapped(left: Tensor, right: Tensor) -> bool:
    if left.ndim != right.ndim or right.ndim > _MOST_AXES:
        return False
    return any(close(left, right.permute(order)) for order in permutations(range(right.ndim)))


def _axis_added(left: Tensor, right: Tensor) -> bool:
    return left.ndim > right.ndim and close(left.squeeze(), right.squeeze())


def _axis_lost(left: Tensor, right: Tensor) -> bool:
    return left.ndim < right.ndim and close(left.squeeze(), right.squeeze())


def _pairs_apart(left: Tensor, right: Tensor) -> bool:
    if left.ndim != right.ndim + 1 or left.ndim < 3:
        return False
    if close(left.flatten(-2), right):
        return True
    # First all first members, then all second ones, on an axis in front of the pairs.
    return left.shape[-2] == 2 and close(left.mT.flatten(-2), right)


def _reshaped(left: Tensor, right: Tensor) -> bool:
    return left.numel() == right.numel() and close(left.reshape(right.shape), right)


def _one_sentence(left: Tensor, right: Tensor) -> bool:
    if right.ndim < 3 or right.shape[0] < 2:
        return False
    return any(close(left.squeeze(), right[at].squeeze()) for at in (0, -1))


def _one_row(left: Tensor, right: Tensor) -> bool:
    if right.ndim < 2 or right.shape[-2] < 2:
        return False
    return any(close(left.squeeze(), right[..., at, :].squeeze()) for at in (0, -1))


def _repeated(left: Tensor, right: Tensor) -> bool:
    if left.ndim <= right.ndim or left.shape[left.ndim - right.ndim :] != right.shape:
        return False
    return close(left, right.expand(left.shape))


def _outer(left: Tensor, right: Tensor) -> bool:
    """Every row with every position: on the diagonal of the first two axes stands what is right."""
    if right.ndim != 2 or left.ndim != 3 or left.shape[0] != left.shape[1]:
        return False
    return close(left.diagonal(dim1=0, dim2=1).mT, right)


def _summed(left: Tensor, right: Tensor) -> bool:
    return any(close(left, right.sum(axis)) for axis in range(right.ndim))


def _averaged(left: Tensor, right: Tensor) -> bool:
    return any(close(left, right.mean(axis)) for axis in range(right.ndim))


_TESTS: Sequence[tuple[str, Test]] = (
    ("one_element", _one_element),
    ("vector", _vector),
    ("axes_swapped", _axes_swapped),
    ("axis_added", _axis_added),
    ("axis_lost", _axis_lost),
    ("pairs_apart", _pairs_apart),
    ("reshaped", _reshaped),
    ("one_sentence", _one_sentence),
    ("one_row", _one_row),
    ("repeated", _repeated),
    ("outer", _outer),
    ("summed", _summed),
    ("averaged", _averaged),
)
