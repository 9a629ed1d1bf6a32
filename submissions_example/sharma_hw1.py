# Homework 1, filled in as on the course page
import torch

token_vectors = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
position_vectors = torch.tensor([[0.0, 0.5], [0.25, -1.0], [1.0, 0.0]])

final_vectors = token_vectors + position_vectors

print("final vectors:")
print(final_vectors)
