# torchgrade: hw4
# Tables from functools.lru_cache, keyed on everything that they depend on.
from functools import lru_cache

import torch


@lru_cache(maxsize=32)
def tables(places, width, base, dtype):
    rates = torch.pow(base, -torch.arange(0, width, 2, dtype=torch.float32) / width)
    angles = torch.tensor(places, dtype=torch.float32).unsqueeze(1) * rates
    return angles.cos().to(dtype), angles.sin().to(dtype)


def apply_rope(x, positions=None, base=10000.0):
    places = range(x.shape[-2]) if positions is None else positions.tolist()
    cos, sin = tables(tuple(places), x.shape[-1], base, x.dtype)
    rotated = torch.empty_like(x)
    rotated[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    rotated[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
    return rotated
