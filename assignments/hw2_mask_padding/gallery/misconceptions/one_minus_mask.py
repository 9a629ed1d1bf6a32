# torchgrade: hw2
# 1 - mask works for numbers; PyTorch refuses it for bool.
def mask_padding(embeddings, attention_mask):
    padded = 1 - attention_mask
    return embeddings.masked_fill(padded.unsqueeze(-1) > 0, 0.0)
