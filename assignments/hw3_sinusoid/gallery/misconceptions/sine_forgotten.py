# torchgrade: hw3
# The angle itself is returned.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return pos / base ** (2 * i / d_model)


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * i / d_model)
