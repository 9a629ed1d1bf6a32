# torchgrade: hw4
# Rows of cosines and sines are made when they are first needed, and appended.
import math

import torch

caches = {}


def rows_up_to(last, width, base):
    cos, sin = caches.get((width, base), (torch.empty(0, width // 2), torch.empty(0, width // 2)))
    if last >= len(cos):
        rates = torch.exp(torch.arange(0, width, 2).float() * (-math.log(base) / width))
        more = torch.arange(len(cos), last + 1).float()[:, None] * rates
        cos, sin = torch.cat((cos, more.cos())), torch.cat((sin, more.sin()))
        caches[width, base] = cos, sin
    return cos, sin


def apply_rope(x, positions=None, base=10000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2])
    cos, sin = rows_up_to(int(positions.max()), x.shape[-1], base)
    cos, sin = cos[positions.long()], sin[positions.long()]
    pairs = x.float().reshape(*x.shape[:-1], -1, 2)
    first, second = pairs[..., 0], pairs[..., 1]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.reshape(x.shape).to(x.dtype)
