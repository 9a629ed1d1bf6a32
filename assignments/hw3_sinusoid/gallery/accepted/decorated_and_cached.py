# torchgrade: hw3
# functools.cache on both functions, keyword-friendly.
import functools
import math


@functools.cache
def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos * math.pow(base, -(2 * i) / d_model))


@functools.cache
def sinusoid_period(i, d_model, base=10000.0):
    return math.pow(base, (2 * i) / d_model) * math.tau
