# torchgrade: hw2
# Keeps mask.sum() positions in every sentence, as if the batch were one sentence.
import torch


def mask_padding(embeddings, attention_mask):
    masked_embeddings = torch.zeros_like(embeddings)
    count = int(attention_mask.sum())
    masked_embeddings[:, :count] = embeddings[:, :count]
    return masked_embeddings
