# torchgrade: hw4
# Takes cosine and sine of a table that already holds sines and cosines.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    table = torch.cat((angles.sin(), angles.cos()), dim=-1)
    cos, sin = table.cos(), table.sin()
    swapped = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return (x * cos + swapped * sin).to(x.dtype)
