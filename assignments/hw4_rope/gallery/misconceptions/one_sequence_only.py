# torchgrade: hw4
# Flattens all leading axes into the sequence: positions run on from sentence to sentence.
import torch


def apply_rope(x, positions=None, base=10000.0):
    shape, width = x.shape, x.shape[-1]
    x = x.reshape(-1, width)
    length = len(x)
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.reshape(shape).to(x.dtype)
