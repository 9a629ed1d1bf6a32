# torchgrade: hw4
# Keeps a table that grows. Its rows are counted in the dtype of the call that made it grow.
import torch

tables = {}


def angles_of(rows, width, base):
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    return torch.outer(rows.float(), rates)


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is not None:
        angles = angles_of(positions, width, base)
    else:
        if (width, base) not in tables or len(tables[width, base]) < length:
            tables[width, base] = angles_of(torch.arange(length, dtype=x.dtype), width, base)
        angles = tables[width, base][:length]
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
