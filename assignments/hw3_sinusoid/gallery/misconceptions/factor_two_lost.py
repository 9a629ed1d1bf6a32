# torchgrade: hw3
# The exponent is i / d_model: the 2 in front of i is missing. (The same numbers as base 100.)
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (i / d_model)
