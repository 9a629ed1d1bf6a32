# torchgrade: hw2
# Chooses between two tensors of the full shape.
import torch


def mask_padding(embeddings, attention_mask):
    keep = (attention_mask > 0).unsqueeze(-1).expand_as(embeddings)
    return torch.where(keep, embeddings, torch.zeros_like(embeddings))
