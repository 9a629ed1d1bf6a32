# torchgrade: hw4
# Turns the pairs of the first half of the row and passes the rest on.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    part = max(2, width // 4 * 2)
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles[:, : part // 2].cos(), angles[:, : part // 2].sin()
    first, second = x[..., 0:part:2], x[..., 1:part:2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return torch.cat((turned.flatten(-2).to(x.dtype), x[..., part:]), dim=-1)
