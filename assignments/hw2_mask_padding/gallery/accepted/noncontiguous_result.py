# torchgrade: hw2
# Fills with D in front, where the mask broadcasts by itself; the result is a transposed view.
def mask_padding(embeddings, attention_mask):
    width_first = embeddings.permute(2, 0, 1)  # (D, B, L)
    return width_first.masked_fill(attention_mask == 0, 0.0).permute(1, 2, 0)
