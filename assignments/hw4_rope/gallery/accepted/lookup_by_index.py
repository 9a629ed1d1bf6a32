# torchgrade: hw4
# A table for all positions up to the largest one, read with embedding.
import torch
from torch.nn import functional


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    last = int(positions.max())
    steps = torch.arange(last + 1, dtype=torch.float64)
    angles = steps[:, None] / torch.tensor(base).double() ** (
        torch.arange(0, width, 2, dtype=torch.float64) / width
    )
    table = torch.cat((angles.cos(), angles.sin()), dim=-1).float()
    cos, sin = functional.embedding(positions.long(), table).chunk(2, dim=-1)
    even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    pairs = torch.stack((even * cos - odd * sin, odd * cos + even * sin), dim=-1)
    return pairs.flatten(-2).to(x.dtype)
