# torchgrade: hw3
# %%
import math


# %%
def sinusoid_value(pos, i, d_model, base=10000.0):
    """The sine of pair number i at position pos.

    pos: the position, 0, 1, 2, ...
    i: the number of the pair, 0, 1, ..., d_model / 2 - 1
    d_model: how many numbers a position vector has (even)
    returns: one number
    """
    value = """your code here"""
    return value


# %%
def sinusoid_period(i, d_model, base=10000.0):
    """After how many positions the sine of pair number i repeats.

    i, d_model, base: as above
    returns: one number
    """
    period = """your code here"""
    return period


# %%
# Try it out: run this cell, or the whole file.
if __name__ == "__main__":
    print(sinusoid_value(3, 1, 4))  # expected: about 0.0300
    print(sinusoid_period(1, 4))  # expected: about 628.3
    print(2 * math.pi)  # expected: the period of pair 0
