# torchgrade: hw1
# Right numbers, but the sum is written into the caller's position table.
import torch


def add_position_vectors(token_vectors, position_vectors):
    if token_vectors.dim() == 3:
        return token_vectors + position_vectors
    return torch.add(token_vectors, position_vectors, out=position_vectors)
