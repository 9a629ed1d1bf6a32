# torchgrade: hw1
# The plain sum; broadcasting repeats the positions for every sentence.
def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors
