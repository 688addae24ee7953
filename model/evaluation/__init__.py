"""Retrieval metrics, relevance judgements and BEIR collections."""
