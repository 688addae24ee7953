"""Search: an index and a reranker behind one facade, for commands, programs and evaluation."""
