# torchgrade: hw3
# The period is taken to be the power of the base alone.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return base ** (2 * i / d_model)
