# torchgrade: hw3
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    """The sine of pair number i at position pos."""
    value = math.sin(pos / base ** (2 * i / d_model))
    return value


def sinusoid_period(i, d_model, base=10000.0):
    """After how many positions the sine of pair number i repeats."""
    period = """your code here"""
    return period


if __name__ == "__main__":
    print(sinusoid_value(3, 1, 4))
    print(sinusoid_period(1, 4))
