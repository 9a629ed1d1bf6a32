# Prints bytes that are no text, and half a character.
import sys

import torch


def add_position_vectors(token_vectors, position_vectors):
    sys.stdout.buffer.write(bytes(range(256)) * 40 + b"\xe4\xbd")
    sys.stdout.flush()
    return torch.zeros_like(token_vectors)
