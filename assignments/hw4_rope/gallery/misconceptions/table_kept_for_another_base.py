# torchgrade: hw4
# Keeps a table for each length and width and forgets that the base may differ.
import torch

tables = {}


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    if positions is None:
        if (length, width) not in tables:
            tables[length, width] = torch.outer(torch.arange(length).float(), rates)
        angles = tables[length, width]
    else:
        angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
