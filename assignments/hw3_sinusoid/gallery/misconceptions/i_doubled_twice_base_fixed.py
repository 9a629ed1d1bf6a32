# torchgrade: hw3
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    column = 2 * i
    return math.sin(pos / 10000 ** (2 * column / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    column = 2 * i
    return 2 * math.pi * 10000 ** (2 * column / d_model)
