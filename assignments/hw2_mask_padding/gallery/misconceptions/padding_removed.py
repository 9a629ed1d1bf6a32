# torchgrade: hw2
# Takes the padded rows out; what is left has no batch axis any more.
def mask_padding(embeddings, attention_mask):
    return embeddings[attention_mask.bool()]
