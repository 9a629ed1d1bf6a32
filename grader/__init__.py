"""torchgrade: an autograder for PyTorch exercises."""
