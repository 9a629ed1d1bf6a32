# torchgrade: hw2
# Replaces NaN and inf first; then multiplying by the mask is safe.
import torch


def mask_padding(embeddings, attention_mask):
    finite = torch.nan_to_num(embeddings, nan=0.0, posinf=0.0, neginf=0.0)
    return finite * attention_mask.unsqueeze(-1)
