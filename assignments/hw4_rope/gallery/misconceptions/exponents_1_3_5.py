# torchgrade: hw4
# The exponents are 1/D, 3/D, 5/D, ... as when pairs are counted from 1 in (2i - 1)/D.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(1, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
