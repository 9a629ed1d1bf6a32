# torchgrade: hw4
# Casts given positions to the dtype of x; its own count is in float32.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    counted = torch.arange(length).float()
    positions = counted if positions is None else positions.to(x.dtype)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
