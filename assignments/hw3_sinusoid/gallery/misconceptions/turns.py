# torchgrade: hw3
# The angle is multiplied by 2 pi, so that pair 0 needs one position for a turn.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(2 * math.pi * pos / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    return base ** (2 * i / d_model)
