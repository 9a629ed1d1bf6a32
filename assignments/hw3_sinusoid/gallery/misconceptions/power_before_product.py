# torchgrade: hw3
# Precedence: base ** 2 * i / d_model is not base ** (2 * i / d_model).
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos / (base**2 * i / d_model)) if i else 0.0


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi * base**2 * i / d_model
