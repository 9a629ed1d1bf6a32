# Prints one line of ten megabytes, and again to the error stream.
import sys

import torch


def add_position_vectors(token_vectors, position_vectors):
    print("y" * 10_000_000)
    print("z" * 10_000_000, file=sys.stderr)
    return torch.zeros_like(token_vectors)
