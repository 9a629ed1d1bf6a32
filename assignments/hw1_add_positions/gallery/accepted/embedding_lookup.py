# torchgrade: hw1
# Looks every position number up in the table, as nn.Embedding would.
import torch
from torch.nn import functional


def add_position_vectors(token_vectors, position_vectors):
    length, width = token_vectors.shape[-2:]
    table = position_vectors.view(length, width)
    places = torch.arange(length).expand(token_vectors.shape[:-1])
    return token_vectors + functional.embedding(places, table)
