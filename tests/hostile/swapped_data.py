# Returns a tensor whose storage was released under it.
import torch


def add_position_vectors(token_vectors, position_vectors):
    value = torch.zeros_like(token_vectors)
    value.untyped_storage().resize_(0)
    return value
