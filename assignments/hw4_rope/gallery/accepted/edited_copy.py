# torchgrade: hw4
# A clone is edited in place, with both old columns saved first.
import torch


def apply_rope(x, positions=None, base=10000.0):
    rotated = x.clone()
    length, width = x.shape[-2:]
    positions = torch.arange(length) if positions is None else positions
    for i in range(width // 2):
        angle = positions.float() / base ** (2 * i / width)
        a, b = rotated[..., 2 * i].clone(), rotated[..., 2 * i + 1].clone()
        rotated[..., 2 * i] = (a * angle.cos() - b * angle.sin()).to(x.dtype)
        rotated[..., 2 * i + 1] = (a * angle.sin() + b * angle.cos()).to(x.dtype)
    return rotated
