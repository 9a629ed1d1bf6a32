# Starts programs: a shell, another Python, multiprocessing, pip.
import multiprocessing
import os
import subprocess
import sys

import torch


def add_position_vectors(token_vectors, position_vectors):
    for attempt in (
        lambda: os.system("sleep 600 &") and 1 / 0,
        lambda: subprocess.Popen(["sleep", "600"]),
        lambda: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]),
        lambda: subprocess.Popen([sys.executable, "-m", "pip", "install", "torchgrade-hostile"]),
        lambda: multiprocessing.Process(target=print).start(),
        lambda: os.posix_spawn("/bin/sleep", ["sleep", "600"], {}),
        lambda: os.execv("/bin/true", ["true"]),
    ):
        try:
            attempt()
            print("SUCCEEDED: a program")
        except BaseException as error:
            print(type(error).__name__)
    return torch.zeros_like(token_vectors)
