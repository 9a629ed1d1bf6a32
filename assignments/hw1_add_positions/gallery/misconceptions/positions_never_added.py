# torchgrade: hw1
def add_position_vectors(token_vectors, position_vectors):
    for token, position in zip(token_vectors, position_vectors, strict=False):
        token = token + position
    return token_vectors.clone()
