# torchgrade: hw4
# x * cos + swapped(x) * sin with every angle written twice side by side.
import torch


def rotate_every_two(x):
    pairs = x.unflatten(-1, (-1, 2))
    return torch.stack((-pairs[..., 1], pairs[..., 0]), dim=-1).flatten(-2)


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    t = torch.arange(length) if positions is None else positions
    inverse = 1 / base ** (torch.arange(0, width, 2, dtype=torch.float32) / width)
    angles = (t.float()[:, None] * inverse).repeat_interleave(2, dim=-1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return x * cos + rotate_every_two(x) * sin
