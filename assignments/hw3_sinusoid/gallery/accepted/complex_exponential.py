# torchgrade: hw3
# The sine is the imaginary part of exp(1j * angle).
import cmath
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    angle = pos * math.exp(-2 * i / d_model * math.log(base))
    return cmath.exp(1j * angle).imag


def sinusoid_period(i, d_model, base=10000.0):
    return math.tau / abs(cmath.exp(-2 * i / d_model * cmath.log(base)))
