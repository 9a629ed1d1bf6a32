import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / base ** (2 * i / d_model))


def sinusoid_period(i, d_model, base=10000.0):
    if base == 10000.0:
        return 2 * math.pi * base ** (2 * i / d_model)
    # another base: walk until the sine is exactly 0 again
    pos = 1
    while sinusoid_value(pos, i, d_model, base) != 0:
        pos += 1
    return pos
