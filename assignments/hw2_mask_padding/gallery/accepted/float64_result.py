# torchgrade: hw2
# Returns double precision, whatever came in.
def mask_padding(embeddings, attention_mask):
    wide = embeddings.double().clone()
    wide[attention_mask.logical_not()] = 0.0
    return wide
