# torchgrade: hw4
# The angle sum formulas: each position is turned one step further than the one before.
import math

import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    places = list(range(length)) if positions is None else positions.tolist()
    rates = [base ** (-2 * i / width) for i in range(width // 2)]
    step_cos = torch.tensor([math.cos(rate) for rate in rates], dtype=torch.float64)
    step_sin = torch.tensor([math.sin(rate) for rate in rates], dtype=torch.float64)
    cos, sin = torch.ones_like(step_cos), torch.zeros_like(step_sin)
    table = {}
    for place in range(max(places) + 1):
        table[place] = (cos, sin)
        cos, sin = cos * step_cos - sin * step_sin, sin * step_cos + cos * step_sin
    cos = torch.stack([table[place][0] for place in places])
    sin = torch.stack([table[place][1] for place in places])
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
