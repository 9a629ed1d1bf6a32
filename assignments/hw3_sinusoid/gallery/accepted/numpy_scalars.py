# torchgrade: hw3
# numpy, which returns numpy scalars.
import numpy as np


def sinusoid_value(pos, i, d_model, base=10000.0):
    return np.sin(pos * np.power(base, -2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return np.float64(2) * np.pi / np.power(base, -2 * i / d_model)
