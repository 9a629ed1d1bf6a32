# torchgrade: hw1
# Takes the number of the sentence in the batch for the position.
import torch


def add_position_vectors(token_vectors, position_vectors):
    if token_vectors.dim() == 2:
        return token_vectors + position_vectors
    table = position_vectors.reshape(token_vectors.shape[1:])
    numbers = torch.arange(token_vectors.shape[0]) % token_vectors.shape[1]
    return token_vectors + table[numbers].unsqueeze(1)
