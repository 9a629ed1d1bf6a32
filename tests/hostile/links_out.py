# Makes links to files outside and writes through them.
import os

import torch


def add_position_vectors(token_vectors, position_vectors):
    for number, target in enumerate(("/outside/canary", "/proc/self/root/outside/canary", "..")):
        try:
            os.symlink(target, f"out-{number}")
            with open(f"out-{number}/hostile-gallery", "w") as file:
                file.write("x")
        except OSError:
            continue
    for source in ("/outside/canary/suite.py", "/etc/passwd"):
        try:
            os.link(source, "linked")
        except OSError:
            continue
    return torch.zeros_like(token_vectors)
