# torchgrade: hw4
# Pairs i with i + D/2, as many libraries do.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    left, right = x.chunk(2, dim=-1)
    return torch.cat((left * cos - right * sin, left * sin + right * cos), dim=-1).to(x.dtype)
