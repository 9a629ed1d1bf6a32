# torchgrade: hw3
# The exponents run from 0 to 1 over the pairs, 2i / (d_model - 2).
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i / (d_model - 2)))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * i / (d_model - 2))
