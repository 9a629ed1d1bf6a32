# torchgrade: hw3
# The exponent is 2i, without the division by d_model.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * i)
