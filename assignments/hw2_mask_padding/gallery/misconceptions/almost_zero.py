# torchgrade: hw2
# Fills with a tiny number "to be safe".
def mask_padding(embeddings, attention_mask):
    return embeddings.masked_fill(attention_mask.unsqueeze(-1) == 0, 1e-9)
