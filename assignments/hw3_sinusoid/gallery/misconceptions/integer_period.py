# torchgrade: hw3
# Cuts the period down to a whole number of positions.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return int(2 * math.pi * base ** (2 * i / d_model)) * 1.0
