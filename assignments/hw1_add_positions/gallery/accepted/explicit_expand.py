# torchgrade: hw1
# Brings the positions to the full shape by hand before adding.
def add_position_vectors(token_vectors, position_vectors):
    if token_vectors.dim() == 2:
        return token_vectors + position_vectors
    if position_vectors.dim() == 2:
        position_vectors = position_vectors.unsqueeze(0)
    return token_vectors + position_vectors.expand(token_vectors.shape[0], -1, -1)
