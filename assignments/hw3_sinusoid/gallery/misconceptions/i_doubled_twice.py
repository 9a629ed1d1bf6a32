# torchgrade: hw3
# The pair's number is doubled twice, as in code whose loop already steps by two.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * (2 * i) / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * (2 * i) / d_model)
