# torchgrade: hw3
# 6.28 in place of 2 pi.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 6.28 * base ** (2 * i / d_model)
