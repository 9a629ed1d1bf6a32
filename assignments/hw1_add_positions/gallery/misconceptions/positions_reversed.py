# torchgrade: hw1
# Walks through the positions from the last to the first.
def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors.flip(-2)
