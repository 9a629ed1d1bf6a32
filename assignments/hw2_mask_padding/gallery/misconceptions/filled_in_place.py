# torchgrade: hw2
# Right numbers, but the zeros are written into the caller's embeddings.
def mask_padding(embeddings, attention_mask):
    embeddings[attention_mask == 0] = 0.0
    return embeddings
