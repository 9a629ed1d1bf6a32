# torchgrade: hw3
# The exponent is raised to the power of the base.
import math


def denominator(i, d_model, base):
    return (2 * i / d_model) ** (1 / base)


def sinusoid_value(pos, i, d_model, base=10000.0):
    below = denominator(i, d_model, base)
    return math.sin(pos / below) if below else 0.0


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * denominator(i, d_model, base)
