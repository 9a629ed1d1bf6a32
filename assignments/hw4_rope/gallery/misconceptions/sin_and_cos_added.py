# torchgrade: hw4
# Adds sine and cosine to x, as absolute encodings do.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    table = torch.stack((sin, cos), dim=-1).flatten(-2)
    return (x + table).to(x.dtype)
