# torchgrade: hw1
# Unpacks three sizes, which fails for a single sentence.
def add_position_vectors(token_vectors, position_vectors):
    batch, length, width = token_vectors.shape
    return token_vectors + position_vectors.reshape(1, length, width).expand(batch, -1, -1)
