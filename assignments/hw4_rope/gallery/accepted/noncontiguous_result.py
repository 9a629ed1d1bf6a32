# torchgrade: hw4
# Works with L as the last axis; the result is a transposed view.
import torch


def apply_rope(x, positions=None, base=10000.0):
    columns = x.transpose(-1, -2).float()
    width, length = columns.shape[-2:]
    t = (torch.arange(length) if positions is None else positions).float()
    rates = base ** (-2 * torch.arange(width // 2).float() / width)
    angles = rates[:, None] * t[None, :]
    a, b = columns[..., 0::2, :], columns[..., 1::2, :]
    turned = torch.stack(
        (a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -2
    )
    return turned.flatten(-3, -2).to(x.dtype).transpose(-1, -2)
