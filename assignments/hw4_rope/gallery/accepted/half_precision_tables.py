# torchgrade: hw4
# Angles in float32, cosines and sines then in the dtype of x, which the handout allows.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length, dtype=torch.float32)
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    angles = torch.einsum("l,i->li", positions.float(), rates).repeat_interleave(2, dim=-1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    partners = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * cos + partners * sin
