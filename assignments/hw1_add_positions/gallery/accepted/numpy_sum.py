# torchgrade: hw1
# Computes with numpy and returns a numpy array.
import numpy as np


def add_position_vectors(token_vectors, position_vectors):
    return np.add(token_vectors.numpy(), position_vectors.numpy())
