# torchgrade: hw3
# Double precision tensors that ask for a gradient.
import torch


def sinusoid_value(pos, i, d_model, base=10000.0):
    position = torch.nn.Parameter(torch.tensor(float(pos), dtype=torch.float64))
    return torch.sin(position / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return torch.nn.Parameter(torch.tensor(2 * torch.pi * base ** (2 * i / d_model)))
