# Gives a regular expression and a huge power to compute, which no signal interrupts.
import re

import torch


def add_position_vectors(token_vectors, position_vectors):
    re.match(r"(a+)+$", "a" * 64 + "b")
    10 ** (10**9)
