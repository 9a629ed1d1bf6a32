import torch


def mask_padding(embeddings, attention_mask):
<<<<<<< HEAD
    keep = attention_mask.bool().unsqueeze(-1)
    return torch.where(keep, embeddings, torch.zeros_like(embeddings))
=======
    return embeddings * attention_mask[:, :, None]
>>>>>>> laptop
