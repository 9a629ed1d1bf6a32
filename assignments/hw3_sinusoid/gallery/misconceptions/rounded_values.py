# torchgrade: hw3
# Rounds the results to two decimals.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return round(math.sin(pos / base ** (2 * i / d_model)), 2)


def sinusoid_period(i, d_model, base=10000.0):
    return round(2 * math.pi * base ** (2 * i / d_model), 2)
