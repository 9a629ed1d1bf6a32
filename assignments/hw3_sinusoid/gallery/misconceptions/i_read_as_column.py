# torchgrade: hw3
# Takes i for a column of the table, so that two neighbouring values of i share a frequency.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * (i // 2) / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base ** (2 * (i // 2) / d_model)
