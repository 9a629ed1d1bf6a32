# torchgrade: hw4
# The right numbers, but written into x itself.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = first * cos - second * sin
    x[..., 1::2] = first * sin + second * cos
    return x
