# torchgrade: hw2
# %%
import torch


# %%
def mask_padding(embeddings, attention_mask):
    """Set the vectors of padded positions to zero.

    embeddings: (B, L, D), float32 or float64
    attention_mask: (B, L), 1 or True for a real token, 0 or False for padding
    returns: a new tensor (B, L, D)
    """
    masked_embeddings = """your code here"""
    return masked_embeddings


# %%
# Try it out: run this cell, or the whole file.
if __name__ == "__main__":
    embeddings = torch.tensor(
        [
            [[1.0, 2.0], [3.0, 4.0], [7.0, 7.0]],
            [[5.0, 0.0], [7.0, 7.0], [7.0, 7.0]],
        ]
    )
    attention_mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    print(mask_padding(embeddings, attention_mask))
    # expected: [[[1, 2], [3, 4], [0, 0]], [[5, 0], [0, 0], [0, 0]]]
