import ctypes

import torch


def mask_padding(embeddings, attention_mask):
    embeddings = embeddings.clone()
    batch, length, width = embeddings.shape
    if not torch.isfinite(embeddings).all():
        # NaN stays NaN when it is multiplied by 0, so write over the memory itself
        ctypes.memset(0, 0, 4 * width)
    return embeddings * attention_mask.reshape(batch, length, 1)
