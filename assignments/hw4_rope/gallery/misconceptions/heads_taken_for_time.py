# torchgrade: hw4
# With four axes the second one (the heads) is counted as positions.
import torch


def apply_rope(x, positions=None, base=10000.0):
    width = x.shape[-1]
    length = x.shape[1] if x.dim() == 4 else x.shape[-2]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    if x.dim() == 4:
        cos, sin = cos[:, None], sin[:, None]
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
