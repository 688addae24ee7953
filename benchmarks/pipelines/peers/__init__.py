"""Other programs for the work of `qpr clusters --coherence paper`, with the same output."""
