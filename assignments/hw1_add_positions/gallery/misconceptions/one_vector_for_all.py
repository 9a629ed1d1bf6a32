# torchgrade: hw1
# Adds the vector of position 0 to every token.
def add_position_vectors(token_vectors, position_vectors):
    table = position_vectors.reshape(token_vectors.shape[-2:])
    return token_vectors + table[0]
