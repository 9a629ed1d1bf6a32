# torchgrade: hw2
# Drops every axis of length 1 on the way out.
def mask_padding(embeddings, attention_mask):
    return embeddings.masked_fill(attention_mask.unsqueeze(-1) == 0, 0.0).squeeze()
