# torchgrade: hw3
# The position is multiplied by the power where it should be divided, so later pairs get faster.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos * base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi / base ** (2 * i / d_model)
