# torchgrade: hw1
# Stacks both summands and lets einsum sum over the new axis.
import torch


def add_position_vectors(token_vectors, position_vectors):
    pair = torch.stack(torch.broadcast_tensors(token_vectors, position_vectors))
    return torch.einsum("p...->...", pair)
