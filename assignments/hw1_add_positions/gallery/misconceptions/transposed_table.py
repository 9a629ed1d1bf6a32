# torchgrade: hw1
# Swaps the axes of the table: runs only where L = D, and is wrong there.
def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors.transpose(-1, -2)
