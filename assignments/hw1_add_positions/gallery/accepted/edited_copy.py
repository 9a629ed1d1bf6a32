# torchgrade: hw1
# Adds in place, but on a copy, so the caller's tensors keep their numbers.
def add_position_vectors(token_vectors, position_vectors):
    final_vectors = token_vectors.clone()
    final_vectors += position_vectors
    return final_vectors
