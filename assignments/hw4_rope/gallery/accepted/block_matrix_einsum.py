# torchgrade: hw4
# One 2 x 2 rotation matrix per position and pair, applied with einsum.
import torch


def apply_rope(x, positions=None, base=10000.0):
    *leading, length, width = x.shape
    if positions is None:
        positions = torch.arange(length)
    rates = base ** (-2 * torch.arange(width // 2, dtype=torch.float32) / width)
    angles = torch.einsum("l,p->lp", positions.to(torch.float32), rates)
    c, s = torch.cos(angles), torch.sin(angles)
    blocks = torch.stack((torch.stack((c, -s), -1), torch.stack((s, c), -1)), -2)
    pairs = x.float().reshape(*leading, length, width // 2, 2)
    rotated = torch.einsum("lpij,...lpj->...lpi", blocks, pairs)
    return rotated.reshape(x.shape).to(x.dtype)
