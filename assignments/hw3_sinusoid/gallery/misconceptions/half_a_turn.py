# torchgrade: hw3
# The period is half a turn, pi.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return math.pi * base ** (2 * i / d_model)
