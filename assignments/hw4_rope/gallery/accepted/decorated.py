# torchgrade: hw4
# A decorator lifts to float32 and brings the dtype back; the inner function knows one row only.
import functools

import torch


def in_float32(function):
    @functools.wraps(function)
    def wrapped(x, *args, **kwargs):
        return function(x.to(torch.float32), *args, **kwargs).to(x.dtype)

    return wrapped


def turn_row(row, place, base):
    rates = torch.logspace(0, -1, len(row) // 2 + 1, base=base)[:-1]
    c, s = torch.cos(place * rates), torch.sin(place * rates)
    a, b = row[0::2], row[1::2]
    return torch.stack((c * a - s * b, s * a + c * b), dim=1).reshape(-1)


@in_float32
def apply_rope(x, positions=None, base=10000.0):
    places = (torch.arange(x.shape[-2]) if positions is None else positions).float()
    over_rows = torch.vmap(turn_row, in_dims=(0, 0, None))
    flat = x.reshape(-1, *x.shape[-2:])
    return torch.stack([over_rows(each, places, base) for each in flat]).reshape(x.shape)
