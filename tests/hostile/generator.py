# Returns a generator in place of the numbers.
import torch


def add_position_vectors(token_vectors, position_vectors):
    return (row * 0 for row in token_vectors)
