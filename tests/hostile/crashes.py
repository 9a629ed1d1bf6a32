# Crashes the interpreter in several ways.
import ctypes
import faulthandler
import os
import signal
import sys

import torch

WAYS = [
    lambda: ctypes.string_at(0),
    lambda: os.abort(),
    lambda: os.kill(os.getpid(), signal.SIGKILL),
    lambda: os.kill(os.getpid(), signal.SIGSEGV),
]


def add_position_vectors(token_vectors, position_vectors):
    faulthandler.disable()
    sys.setrecursionlimit(1 << 30)
    WAYS[token_vectors.numel() % len(WAYS)]()
