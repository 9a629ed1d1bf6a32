# Returns sparse, nested and quantized tensors, one after the other.
import torch

KINDS = [
    lambda x: x.to_sparse(),
    lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8),
    lambda x: torch.nested.nested_tensor([x[0], x[0]]),
    lambda x: torch.zeros_like(x).to(torch.complex64).conj(),
    lambda x: torch._neg_view(torch.zeros_like(x)),
]


def add_position_vectors(token_vectors, position_vectors):
    KINDS.append(KINDS.pop(0))
    return KINDS[-1](torch.zeros_like(token_vectors))
