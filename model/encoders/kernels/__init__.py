"""Inner loops and matrix products of inference, and the first call of PyTorch's functions."""
