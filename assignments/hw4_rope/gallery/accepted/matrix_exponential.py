# torchgrade: hw4
# The rotation as exp(angle * generator), one D x D matrix for each position.
import torch


def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    generator = torch.zeros(width, width, dtype=torch.float64)
    for i in range(width // 2):
        rate = base ** (-2 * i / width)
        generator[2 * i + 1, 2 * i], generator[2 * i, 2 * i + 1] = rate, -rate
    places = (torch.arange(length) if positions is None else positions).double()
    turns = torch.linalg.matrix_exp(places[:, None, None] * generator)
    return (turns @ x.double().unsqueeze(-1)).squeeze(-1).to(x.dtype)
