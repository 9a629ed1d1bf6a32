# torchgrade: hw1
# Adds on transposed views; the result is right but not contiguous in memory.
def add_position_vectors(token_vectors, position_vectors):
    summed = token_vectors.transpose(-1, -2) + position_vectors.transpose(-1, -2)
    return summed.transpose(-1, -2)
