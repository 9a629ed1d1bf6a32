# Returns 64 MiB where 72 bytes are expected.
import torch


def add_position_vectors(token_vectors, position_vectors):
    return torch.zeros(1 << 24)
