# torchgrade: hw4
# The first axis is counted as positions, also when it is the batch.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[0], x.shape[-1]
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    shape = (len(positions), *[1] * (x.dim() - 2), width // 2)
    cos, sin = cos.reshape(shape), sin.reshape(shape)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
