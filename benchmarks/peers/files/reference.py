# torchgrade: ten
"""The model solution of the ten tests."""

import torch


def apply_rope(
    x: torch.Tensor, positions: torch.Tensor | None = None, base: float = 10000.0
) -> torch.Tensor:
    """Turn the pair (2i, 2i+1) of each row by pos / base^(2i/D) radians; x is (..., L, D)."""
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    # In float32 whatever x is: bfloat16 has no numbers between 256 and 258.
    frequencies = base ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    angles = torch.outer(positions.float(), frequencies)  # (L, D/2)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
