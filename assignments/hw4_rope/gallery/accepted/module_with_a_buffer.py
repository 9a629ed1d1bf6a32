# torchgrade: hw4
# An nn.Module behind the function; its table grows and is kept per width and base.
import torch
from torch import nn


class Rope(nn.Module):
    def __init__(self, width, base):
        super().__init__()
        rates = base ** (-torch.arange(0, width, 2).float() / width)
        self.register_buffer("rates", rates, persistent=False)
        self.register_buffer("table", torch.empty(0, width // 2, 2), persistent=False)

    def grow(self, length):
        angles = torch.outer(torch.arange(length).float(), self.rates)
        self.table = torch.stack((angles.cos(), angles.sin()), dim=-1)

    def forward(self, x, positions):
        longest = int(positions.max()) + 1
        if longest > self.table.shape[0]:
            self.grow(longest)
        cos, sin = self.table[positions.long()].unbind(-1)
        first, second = x.float().unflatten(-1, (-1, 2)).unbind(-1)
        turned = torch.stack((first * cos - second * sin, second * cos + first * sin), -1)
        return turned.flatten(-2).to(x.dtype)


modules = nn.ModuleDict()


def apply_rope(x, positions=None, base=10000.0):
    key = f"{x.shape[-1]} {base!r}".replace(".", "_")
    if key not in modules:
        modules[key] = Rope(x.shape[-1], base)
    if positions is None:
        positions = torch.arange(x.shape[-2])
    return modules[key](x, positions)
