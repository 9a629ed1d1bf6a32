# torchgrade: hw2
# einsum over both tensors, on cleaned numbers and with equal dtypes.
import torch


def mask_padding(embeddings, attention_mask):
    finite = torch.where(torch.isfinite(embeddings), embeddings, 0.0)
    return torch.einsum("bld,bl->bld", finite, attention_mask.to(embeddings.dtype))
