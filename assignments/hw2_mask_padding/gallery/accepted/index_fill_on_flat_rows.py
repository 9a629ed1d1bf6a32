# torchgrade: hw2
# Flattens the sentences into B * L rows and fills those whose index is padding.
def mask_padding(embeddings, attention_mask):
    padded = (attention_mask.reshape(-1) == 0).nonzero().squeeze(1)
    rows = embeddings.reshape(-1, embeddings.shape[-1]).index_fill(0, padded, 0.0)
    return rows.reshape(embeddings.shape)
