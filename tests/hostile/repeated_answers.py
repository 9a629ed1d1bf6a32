# Gives the answer to the call before this one.
import torch

BEFORE = [torch.zeros(3, 2)]


def add_position_vectors(token_vectors, position_vectors):
    BEFORE.append(token_vectors.clone())
    return BEFORE[-2]
