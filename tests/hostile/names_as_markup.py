# Has names and lines of source that steer whoever quotes them.
import torch

graded = {"<script>alert(1)</script>": "\x1b[2J"}


def add_position_vectors(token_vectors, position_vectors):
    raise KeyError("=1+1")  # <img src=x onerror=alert(1)> `code` | table | [link](http://127.0.0.1)
