# torchgrade: hw2
# Computes with numpy and returns a numpy array.
import numpy as np


def mask_padding(embeddings, attention_mask):
    real = attention_mask.numpy().astype(bool)
    return np.where(real[:, :, np.newaxis], embeddings.numpy(), 0.0)
