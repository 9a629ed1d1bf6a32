# torchgrade: hw1
# Computes in double precision and returns it so.
import torch


def add_position_vectors(token_vectors, position_vectors):
    return token_vectors.to(torch.float64) + position_vectors.to(torch.float64)
