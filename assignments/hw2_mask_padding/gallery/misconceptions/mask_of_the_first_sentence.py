# torchgrade: hw2
# Uses the first sentence's mask for the whole batch.
def mask_padding(embeddings, attention_mask):
    return embeddings.masked_fill(attention_mask[0].unsqueeze(-1) == 0, 0.0)
