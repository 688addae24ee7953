"""Inner loops over ragged arrays."""
