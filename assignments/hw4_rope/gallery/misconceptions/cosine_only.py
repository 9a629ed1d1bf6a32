# torchgrade: hw4
# Multiplies by the cosine and forgets the partner.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos = angles.cos().repeat_interleave(2, dim=-1)
    return (x * cos).to(x.dtype)
