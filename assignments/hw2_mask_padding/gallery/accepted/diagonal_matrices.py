# torchgrade: hw2
# Multiplies by a diagonal matrix for each sentence, on cleaned numbers.
import torch


def mask_padding(embeddings, attention_mask):
    finite = embeddings.nan_to_num(0.0, 0.0, 0.0)
    selector = torch.diag_embed(attention_mask.to(embeddings.dtype))  # (B, L, L)
    return selector @ finite
