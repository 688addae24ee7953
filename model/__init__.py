"""Vocabulary, encoder, loss, training, FAISS shards and metrics. Never imports Beam."""
