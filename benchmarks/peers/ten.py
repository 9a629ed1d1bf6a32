"""Ten small tests of rotary position embedding, for every grader the same.

A case calls the submission's `apply_rope` and returns what it saw and what it expects; each grader
compares in its own way, within `ATOL`. Nothing but torch is imported: the file is copied beside the
tests of whoever uses it.
"""

import torch

ATOL = 1e-5


def turned(x, positions=None, base=10000.0):
    """The right answer, by complex multiplication in float64."""
    length, width = x.shape[-2:]
    positions = torch.arange(length) if positions is None else positions
    exponents = torch.arange(0, width, 2, dtype=torch.float64) / width
    angles = torch.outer(positions.double(), base**-exponents)
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def rows(*shape):
    """Numbers from -2 to 2 that float32 has exactly."""
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 37 % 64).float() / 16 - 2).reshape(shape)


def position_zero_stays(apply_rope):
    x = rows(1, 6)
    return apply_rope(x), x


def a_single_pair(apply_rope):
    x = torch.tensor([3.0, 4.0]).repeat(5, 1)
    return apply_rope(x), turned(x)


def neighbours_are_paired(apply_rope):
    x = torch.arange(1.0, 7.0).repeat(3, 1)
    return apply_rope(x), turned(x)


def a_batch(apply_rope):
    x = rows(3, 4, 6)
    return apply_rope(x), turned(x)


def several_heads(apply_rope):
    x = rows(2, 3, 5, 8)
    return apply_rope(x), turned(x)


def lengths_are_kept(apply_rope):
    x = rows(7, 8)
    return apply_rope(x).double().norm(dim=-1), x.double().norm(dim=-1)


def scores_depend_on_the_distance(apply_rope):
    q, k = rows(1, 6).repeat(6, 1), rows(2, 6)[1:].repeat(6, 1)
    scores = apply_rope(q).double() @ apply_rope(k).double().T
    return scores[1:, 1:], scores[:-1, :-1]


def positions_with_gaps(apply_rope):
    x, positions = rows(4, 6), torch.tensor([2, 3, 7, 11])
    return apply_rope(x, positions=positions), turned(x, positions)


def another_base(apply_rope):
    x = rows(4, 6)
    return apply_rope(x, base=100.0), turned(x, base=100.0)


def double_precision(apply_rope):
    x = rows(3, 6).double()
    return apply_rope(x), turned(x)


CASES = (
    position_zero_stays,
    a_single_pair,
    neighbours_are_paired,
    a_batch,
    several_heads,
    lengths_are_kept,
    scores_depend_on_the_distance,
    positions_with_gaps,
    another_base,
    double_precision,
)
