# torchgrade: hw4
# Rearranges to halves, uses the halves recipe (rotate_half), and rearranges back.
import torch


def rotate_half(x):
    left, right = x.chunk(2, dim=-1)
    return torch.cat((-right, left), dim=-1)


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    order = torch.cat((torch.arange(0, width, 2), torch.arange(1, width, 2)))
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(positions.float(), rates)
    angles = torch.cat((angles, angles), dim=-1)
    halves = x[..., order].float()
    turned = halves * angles.cos() + rotate_half(halves) * angles.sin()
    return turned[..., order.argsort()].to(x.dtype)
