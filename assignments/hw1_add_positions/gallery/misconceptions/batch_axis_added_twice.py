# torchgrade: hw1
# Puts an axis in front of the positions although (1, L, D) already has one.
def add_position_vectors(token_vectors, position_vectors):
    if token_vectors.dim() == 2:
        return token_vectors + position_vectors
    return token_vectors + position_vectors.unsqueeze(0)
