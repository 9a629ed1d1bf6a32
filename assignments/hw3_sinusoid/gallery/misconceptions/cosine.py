# torchgrade: hw3
# The cosine of the right angle.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.cos(pos / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * i / d_model)
