# torchgrade: hw4
# The formula for pairs 1, 2, ... is used with pairs 0, 1, ...: exponents -2/D, 0, 2/D, ...
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-2 * (torch.arange(width // 2).double() - 1) / width)
    angles = torch.outer(positions.double(), rates)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
