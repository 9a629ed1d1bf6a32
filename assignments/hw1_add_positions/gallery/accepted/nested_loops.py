# torchgrade: hw1
# One number at a time, as the formula in the handout says it.
import torch


def add_position_vectors(token_vectors, position_vectors):
    positions = position_vectors.reshape(position_vectors.shape[-2:])
    if token_vectors.dim() == 3:
        return torch.stack([add_position_vectors(one, positions) for one in token_vectors])
    result = torch.empty_like(token_vectors)
    for place in range(token_vectors.shape[0]):
        for column in range(token_vectors.shape[1]):
            result[place, column] = token_vectors[place, column] + positions[place, column]
    return result
