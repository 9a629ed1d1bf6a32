# Returns lists nested deeper than any stack.
import torch


def add_position_vectors(token_vectors, position_vectors):
    value = []
    for _ in range(200_000):
        value = [value]
    return value
