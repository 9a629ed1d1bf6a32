# torchgrade: hw2
# A function for one position, mapped over positions and sentences.
import torch


def mask_one(vector, is_real):
    return torch.where(is_real, vector, torch.zeros_like(vector))


def mask_padding(embeddings, attention_mask):
    return torch.vmap(torch.vmap(mask_one))(embeddings, attention_mask != 0)
