# Prints as fast as it can, without end.
import torch


def add_position_vectors(token_vectors, position_vectors):
    while True:
        print("x" * 100_000)
