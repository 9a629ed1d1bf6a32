# torchgrade: hw2
# ~ inverts only bool masks: on integers it turns 1 into -2 and 0 into -1, on floats it raises.
def mask_padding(embeddings, attention_mask):
    return embeddings.masked_fill(~attention_mask.unsqueeze(-1), 0.0)
