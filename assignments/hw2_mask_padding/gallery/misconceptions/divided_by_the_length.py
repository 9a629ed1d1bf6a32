# torchgrade: hw2
# Masks, then divides by each sentence's number of real tokens, as for a mean.
def mask_padding(embeddings, attention_mask):
    masked = embeddings.masked_fill(attention_mask.unsqueeze(-1) == 0, 0.0)
    return masked / attention_mask.sum(dim=1).clamp(min=1)[:, None, None]
