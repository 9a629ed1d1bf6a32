# Prints a megabyte at each call, with the answer on time.
import torch


def add_position_vectors(token_vectors, position_vectors):
    print("x" * 1_000_000)
    return token_vectors + position_vectors
