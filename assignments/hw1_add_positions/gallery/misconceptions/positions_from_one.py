# torchgrade: hw1
# Counts positions from 1: token l gets vector l + 1, and the last one gets vector 0.
def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors.roll(-1, dims=-2)
