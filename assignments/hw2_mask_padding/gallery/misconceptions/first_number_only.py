# torchgrade: hw2
# Zeroes only the first of the D numbers of a padded row.
def mask_padding(embeddings, attention_mask):
    masked_embeddings = embeddings.clone()
    masked_embeddings[..., 0][attention_mask == 0] = 0.0
    return masked_embeddings
