# torchgrade: hw4
# The swapped numbers are joined with cat, so they land beside the wrong partners.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    angles = angles.repeat_interleave(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    swapped = torch.cat((-x[..., 1::2], x[..., 0::2]), dim=-1)
    return (x * cos + swapped * sin).to(x.dtype)
