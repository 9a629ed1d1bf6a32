# Returns an input and changes it later, from a thread.
import threading
import time

import torch


def add_position_vectors(token_vectors, position_vectors):
    def later():
        time.sleep(0.001)
        token_vectors.add_(position_vectors)

    threading.Thread(target=later, daemon=True).start()
    return token_vectors
