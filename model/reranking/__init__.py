"""Reranking of an index's hits, learned on a validation split."""
