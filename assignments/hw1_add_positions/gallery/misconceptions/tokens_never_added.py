# torchgrade: hw1
import torch


def add_position_vectors(token_vectors, position_vectors):
    final_vectors = torch.zeros_like(token_vectors)
    return final_vectors + position_vectors
