# torchgrade: hw4
# Keeps cosines and sines in the dtype of the call that came first.
import torch

tables = {}


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    key = (tuple(positions.tolist()), width, base)
    if x.dtype == torch.bfloat16 or key not in tables:
        rates = base ** (-torch.arange(0, width, 2).float() / width)
        angles = torch.outer(positions.float(), rates)
        tables[key] = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    cos, sin = tables[key]
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
