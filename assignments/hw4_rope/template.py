# torchgrade: hw4
# %%
import torch


# %%
def apply_rope(x, positions=None, base=10000.0):
    """Turn each pair of neighbouring numbers by an angle that depends on the position.

    x: (..., L, D), D even; floating point
    positions: (L,) whole numbers, the position of each row; None means 0, 1, ..., L - 1
    base: pair i turns by pos / base ** (2 * i / D) radians
    returns: a new tensor with the shape and dtype of x
    """
    rotated = """your code here"""
    return rotated


# %%
# Try it out: run this cell, or the whole file.
if __name__ == "__main__":
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).repeat(3, 1)
    print(apply_rope(x))
    # expected: [[ 1.0000, 2.0000, 3.0000, 4.0000],
    #            [-1.1426, 1.9221, 2.9599, 4.0298],
    #            [-2.2347, 0.0770, 2.9194, 4.0592]]
