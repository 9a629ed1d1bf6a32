# torchgrade: hw1
# Maps a function for one sentence over the batch, with a decorator around it.
import functools

import torch


def accepts_batches(function):
    @functools.wraps(function)
    def wrapper(token_vectors, position_vectors):
        if token_vectors.ndim == 2:
            return function(token_vectors, position_vectors)
        table = position_vectors.reshape(token_vectors.shape[1:])
        return torch.vmap(function, in_dims=(0, None))(token_vectors, table)

    return wrapper


@accepts_batches
def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors
