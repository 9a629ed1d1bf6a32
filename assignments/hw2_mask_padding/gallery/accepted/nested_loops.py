# torchgrade: hw2
# One position at a time.
import torch


def mask_padding(embeddings, attention_mask):
    batch, length, width = embeddings.shape
    sentences = []
    for b in range(batch):
        rows = []
        for place in range(length):
            is_real = attention_mask[b, place].item() == 1
            rows.append(embeddings[b, place] if is_real else embeddings.new_zeros(width))
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)
