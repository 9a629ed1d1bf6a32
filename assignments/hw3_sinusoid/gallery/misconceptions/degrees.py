# torchgrade: hw3
# The angle is taken in degrees, and a full turn as 360.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(math.radians(pos / base ** (2 * i / d_model)))


def sinusoid_period(i, d_model, base=10000.0):
    return 360 * base ** (2 * i / d_model)
