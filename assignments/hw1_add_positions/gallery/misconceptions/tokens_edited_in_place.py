# torchgrade: hw1
# Right numbers, but += writes them into the caller's token vectors.
def add_position_vectors(token_vectors, position_vectors):
    token_vectors += position_vectors
    return token_vectors
