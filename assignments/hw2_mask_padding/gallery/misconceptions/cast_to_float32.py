# torchgrade: hw2
# Casts everything to float32: the digits of float64 embeddings are lost.
def mask_padding(embeddings, attention_mask):
    padded = attention_mask.unsqueeze(-1) == 0
    return embeddings.float().masked_fill(padded, 0.0)
