# torchgrade: hw3
# The frequency as exp(-2i ln(base) / d) in float32 tensors; returns 0-d tensors.
import math

import torch


def frequency(i, d_model, base):
    exponent = torch.tensor(2 * i, dtype=torch.float32)
    return torch.exp(exponent * (-math.log(base) / d_model))


def sinusoid_value(pos, i, d_model, base=10000.0):
    return torch.sin(torch.tensor(float(pos)) * frequency(i, d_model, base))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * torch.pi / frequency(i, d_model, base)
