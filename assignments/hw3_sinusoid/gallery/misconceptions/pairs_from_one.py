# torchgrade: hw3
# Counts the pairs from 1, so that pair 0 is already slowed down.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * (i + 1) / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * (i + 1) / d_model)
