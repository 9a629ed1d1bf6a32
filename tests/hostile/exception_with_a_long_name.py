# Raises a class with a name of a megabyte and a trace of a thousand lines.
import torch


def add_position_vectors(token_vectors, position_vectors):
    def deeper(left):
        if left:
            return deeper(left - 1)
        raise type("Passed" * 200_000, (Exception,), {"__module__": "x" * 1_000_000})(
            "y" * 1_000_000
        )

    deeper(900)
