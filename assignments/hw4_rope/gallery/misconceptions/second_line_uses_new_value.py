# torchgrade: hw4
# Overwrites the first member of each pair and uses it for the second one.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    rotated = x.clone()
    rotated[..., 0::2] = (rotated[..., 0::2] * cos - rotated[..., 1::2] * sin).to(x.dtype)
    rotated[..., 1::2] = (rotated[..., 0::2] * sin + rotated[..., 1::2] * cos).to(x.dtype)
    return rotated
