# torchgrade: hw4
# One table for every position that the handout allows, kept for each width and base.
import torch

LONGEST = 16384
tables = {}


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if (width, base) not in tables:
        rates = 1.0 / base ** (torch.arange(0, width, 2).float() / width)
        angles = torch.arange(LONGEST).float()[:, None] * rates
        tables[width, base] = angles.cos(), angles.sin()
    cos, sin = tables[width, base]
    rows = slice(0, length) if positions is None else positions.long()
    first, second = x.float()[..., 0::2], x.float()[..., 1::2]
    turned = torch.stack(
        (first * cos[rows] - second * sin[rows], first * sin[rows] + second * cos[rows]), dim=-1
    )
    return turned.flatten(-2).to(x.dtype)
