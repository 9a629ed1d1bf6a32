# torchgrade: hw4
# Pairs viewed as complex numbers, multiplied by unit numbers from torch.polar.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    rates = 1.0 / (base ** (torch.arange(0, width, 2).float() / width))
    if positions is None:
        positions = torch.arange(length)
    angles = torch.outer(positions.float(), rates)
    factors = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * factors).flatten(-2).type_as(x)
