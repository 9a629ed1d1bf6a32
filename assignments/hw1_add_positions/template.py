# torchgrade: hw1
# %%
import torch


# %%
def add_position_vectors(token_vectors, position_vectors):
    """Give every token vector the information where it stands.

    token_vectors: (L, D), or (B, L, D) for a batch of B sentences
    position_vectors: (L, D); for a batch it may also be (1, L, D)
    returns: a new tensor, in the shape of token_vectors
    """
    final_vectors = """your code here"""
    return final_vectors


# %%
# Try it out: run this cell, or the whole file.
if __name__ == "__main__":
    tokens = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    positions = torch.tensor([[0.0, 0.5], [0.25, -1.0], [1.0, 0.0]])
    print(add_position_vectors(tokens, positions))
    # expected: [[1.0, 2.5], [3.25, 3.0], [2.0, 2.0]]
