"""Inner loops and matrix products of inference."""
