# Leaves shared memory, semaphores and queues for the next submission.
import ctypes
import mmap
import os

import torch


def add_position_vectors(token_vectors, position_vectors):
    libc = ctypes.CDLL(None)
    for made in (
        libc.shmget(0, 1 << 20, 0o1600),
        libc.semget(0, 1, 0o1600),
        libc.msgget(0, 0o1600),
    ):
        if made != -1:
            print("SUCCEEDED: something that outlives the process")
    for path in ("/dev/shm/hostile", "/dev/mqueue/hostile", "/tmp/hostile", "/var/tmp/hostile"):
        try:
            with open(path, "w") as file:
                file.write("for the next")
            print("SUCCEEDED: a file for the next", path)
        except OSError:
            continue
    held = mmap.mmap(-1, 1 << 20)
    return torch.zeros_like(token_vectors)
