"""Search: an index and a reranker opened together, for commands, programs and evaluation."""
