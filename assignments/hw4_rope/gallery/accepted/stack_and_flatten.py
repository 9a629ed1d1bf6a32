# torchgrade: hw4
# Even and odd columns apart, turned, and put back side by side with stack and flatten.
import torch


def apply_rope(x, positions=None, base=10000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2])
    i = torch.arange(x.shape[-1] // 2).float()
    angles = positions.float()[:, None] / base ** (2 * i / x.shape[-1])
    even, odd = x[..., ::2], x[..., 1::2]
    new_even = even * angles.cos() - odd * angles.sin()
    new_odd = even * angles.sin() + odd * angles.cos()
    rotated = torch.stack([new_even, new_odd], dim=-1).flatten(start_dim=-2)
    return rotated.to(x.dtype)
