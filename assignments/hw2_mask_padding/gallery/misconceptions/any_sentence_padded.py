# torchgrade: hw2
# Zeroes a position in all sentences as soon as one of them is padded there.
def mask_padding(embeddings, attention_mask):
    real_everywhere = attention_mask.bool().all(dim=0)
    return embeddings.masked_fill(~real_everywhere.unsqueeze(-1), 0.0)
