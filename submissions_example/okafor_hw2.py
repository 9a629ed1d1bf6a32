import torch


def mask_padding(embeddings, attention_mask)
    is_padding = attention_mask == 0
    return embeddings.masked_fill(is_padding.unsqueeze(-1), 0.0)
