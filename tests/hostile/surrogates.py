# Puts lone surrogates, NUL and non-characters into everything that it says.
import torch


def add_position_vectors(token_vectors, position_vectors):
    told = "\ud800\udfff\x00\ufffe\U0010ffff"
    print(told.encode("utf-8", "surrogatepass"))
    print(told)
    raise ValueError(told * 100)
