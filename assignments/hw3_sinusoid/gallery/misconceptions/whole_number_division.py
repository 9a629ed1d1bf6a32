# torchgrade: hw3
# The exponent is cut down to a whole number, so that every pair has the same frequency.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i // d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * i // d_model)
