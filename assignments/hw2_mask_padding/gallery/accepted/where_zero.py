# torchgrade: hw2
# Chooses between the embedding and zero.
import torch


def mask_padding(embeddings, attention_mask):
    return torch.where(attention_mask.bool().unsqueeze(2), embeddings, 0.0)
