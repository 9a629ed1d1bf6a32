# torchgrade: hw2
# Multiplies by the mask: right for finite numbers, but 0 * NaN and 0 * inf are NaN.
def mask_padding(embeddings, attention_mask):
    return embeddings * attention_mask.unsqueeze(-1)
