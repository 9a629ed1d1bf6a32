# Asks for a hundred gigabytes.
import torch

HELD = []


def add_position_vectors(token_vectors, position_vectors):
    HELD.append(bytearray(100 << 30))
    return torch.zeros_like(token_vectors)
