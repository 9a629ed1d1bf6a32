# Hides memory where limits may not look: memfd, sockets, pipes, /dev/shm.
import os
import socket

import torch

HELD = []


def add_position_vectors(token_vectors, position_vectors):
    for attempt in (
        lambda: os.memfd_create("hidden"),
        lambda: os.open("/dev/shm/hostile-gallery", os.O_RDWR | os.O_CREAT),
    ):
        try:
            descriptor = attempt()
            os.ftruncate(descriptor, 1 << 30)
            os.pwrite(descriptor, b"x" * (1 << 20), 1 << 29)
        except OSError:
            continue
    for _ in range(200):
        try:
            HELD.append(socket.socketpair())
            HELD[-1][0].setblocking(False)
            HELD[-1][0].send(b"x" * (1 << 20))
        except OSError:
            break
    return torch.zeros_like(token_vectors)
