"""BM25 as machine code: the loops, and the memory of their sums."""
