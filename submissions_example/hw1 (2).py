import torch


def add_position_vector(token_vectors, position_vectors):
    return token_vectors + position_vectors


print(add_position_vector(torch.zeros(3, 2), torch.ones(3, 2)))
