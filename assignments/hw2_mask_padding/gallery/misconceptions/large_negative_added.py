# torchgrade: hw2
# Adds -1e9 at the padding, another habit from attention scores.
def mask_padding(embeddings, attention_mask):
    return embeddings + (1 - attention_mask.float()).unsqueeze(-1) * -1e9
