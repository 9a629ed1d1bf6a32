# torchgrade: hw2
# Gives the caller's mask a third axis, which stays there after the call.
def mask_padding(embeddings, attention_mask):
    attention_mask.unsqueeze_(-1)
    return embeddings.masked_fill(attention_mask == 0, 0.0)
