# torchgrade: hw3
# A loop: the wavelength grows by the same factor from pair to pair.
from math import pi, sin


def wavelength(i, d_model, base):
    factor = base ** (1 / (d_model // 2))
    result = 1.0
    for _ in range(i):
        result *= factor
    return result


def sinusoid_value(pos, i, d_model, base=10000.0):
    return sin(pos / wavelength(i, d_model, base))


def sinusoid_period(i, d_model, base=10000.0):
    return wavelength(i, d_model, base) * 2 * pi
