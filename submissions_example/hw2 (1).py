import torch


def mask_padding(embeddings, attention_mask):
    # (B, L) -> (B, L, 1), then every number is multiplied by 0 or 1
    masked_embeddings = embeddings * attention_mask.unsqueeze(-1)
    return masked_embeddings


if __name__ == "__main__":
    print(mask_padding(torch.ones(1, 3, 2), torch.tensor([[1, 1, 0]])))
