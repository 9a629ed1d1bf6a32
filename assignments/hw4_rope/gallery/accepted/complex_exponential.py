# torchgrade: hw4
# exp(1j * angle) in complex128; the dtype comes back at the end.
import math

import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2], x.shape[-1]
    where = torch.arange(length) if positions is None else positions
    logs = torch.arange(width // 2, dtype=torch.float64) * (-2 * math.log(base) / width)
    factors = torch.exp(1j * where.double()[:, None] * logs.exp())
    numbers = torch.complex(x[..., 0::2].double(), x[..., 1::2].double()) * factors
    rotated = torch.empty_like(x)
    rotated[..., 0::2] = numbers.real.to(x.dtype)
    rotated[..., 1::2] = numbers.imag.to(x.dtype)
    return rotated
