# torchgrade: hw4
# Turns nothing: rows at odd positions change their sign.
import torch


def apply_rope(x, positions=None, base=10000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2])
    signs = 1 - 2 * (positions % 2)
    return (x * signs.unsqueeze(-1)).to(x.dtype)
