"""Plans of an index and the lists that its searches read."""
