# torchgrade: hw2
# Counts the real tokens of a sentence and keeps that many positions from its start.
import torch


def mask_padding(embeddings, attention_mask):
    counts = attention_mask.long().sum(dim=1, keepdim=True)
    places = torch.arange(attention_mask.shape[1])
    return embeddings.masked_fill((places >= counts).unsqueeze(-1), 0.0)
