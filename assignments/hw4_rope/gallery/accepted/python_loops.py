# torchgrade: hw4
# Plain loops over positions and pairs with the math module.
import math

import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2], x.shape[-1]
    rotated = torch.zeros_like(x)
    for row in range(length):
        pos = row if positions is None else int(positions[row])
        for i in range(width // 2):
            angle = pos / base ** (2 * i / width)
            a, b = x[..., row, 2 * i], x[..., row, 2 * i + 1]
            rotated[..., row, 2 * i] = a * math.cos(angle) - b * math.sin(angle)
            rotated[..., row, 2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return rotated
