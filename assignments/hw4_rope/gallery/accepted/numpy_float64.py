# torchgrade: hw4
# numpy in double precision, handed back as a tensor of the input's dtype.
import numpy as np
import torch


def apply_rope(x, positions=None, base=10000.0):
    values = x.double().numpy()
    length, width = values.shape[-2:]
    where = np.arange(length) if positions is None else positions.numpy()
    angles = where[:, np.newaxis] * np.power(base, -np.arange(0, width, 2) / width)
    even, odd = values[..., 0::2], values[..., 1::2]
    rotated = np.empty_like(values)
    rotated[..., 0::2] = even * np.cos(angles) - odd * np.sin(angles)
    rotated[..., 1::2] = even * np.sin(angles) + odd * np.cos(angles)
    return torch.from_numpy(rotated).to(x.dtype)
