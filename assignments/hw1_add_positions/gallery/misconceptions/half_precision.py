# torchgrade: hw1
# Computes in float16 to save memory and loses the last digits.
def add_position_vectors(token_vectors, position_vectors):
    return (token_vectors.half() + position_vectors.half()).float()
