# torchgrade: hw3
# A float32 power of the base, and a division; returns 0-d tensors.
import torch


def sinusoid_value(pos, i, d_model, base=10000.0):
    wavelength = torch.pow(torch.tensor(base), torch.tensor(2.0 * i / d_model))
    return torch.sin(pos / wavelength)


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * torch.pi * torch.pow(torch.tensor(base), torch.tensor(2.0 * i / d_model))
