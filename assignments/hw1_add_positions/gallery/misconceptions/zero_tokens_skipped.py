# torchgrade: hw1
# Takes a number 0 for "no token here" and adds no position to it.
def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors * (token_vectors != 0)
