# torchgrade: hw4
# Takes cosine and sine of a table of sines and cosines, and turns halves.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    table = torch.cat((angles.sin(), angles.cos()), dim=-1)
    left, right = x.chunk(2, dim=-1)
    swapped = torch.cat((-right, left), dim=-1)
    return (x * table.cos() + swapped * table.sin()).to(x.dtype)
