# torchgrade: hw1
# torch.add with the positions first: the order of a sum does not matter.
import torch


def add_position_vectors(token_vectors, position_vectors):
    return torch.add(position_vectors, token_vectors)
