# torchgrade: hw3
# The base is replaced by its square root, 100 instead of 10000.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / math.sqrt(base) ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * math.sqrt(base) ** (2 * i / d_model)
