# Loops for ever when it is called.
import torch


def add_position_vectors(token_vectors, position_vectors):
    while True:
        pass
