# torchgrade: hw1
# Adds the positions to the first sentence and leaves the others as they are.
def add_position_vectors(token_vectors, position_vectors):
    if token_vectors.dim() == 2:
        return token_vectors + position_vectors
    final_vectors = token_vectors.clone()
    final_vectors[0] = token_vectors[0] + position_vectors.reshape(token_vectors.shape[1:])
    return final_vectors
