# Leaves threads behind that print and allocate for ever.
import threading
import time

import torch


def add_position_vectors(token_vectors, position_vectors):
    def stay():
        while True:
            print("still here")
            time.sleep(0.01)

    for _ in range(8):
        threading.Thread(target=stay).start()
    return torch.zeros_like(token_vectors)
