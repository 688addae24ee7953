"""FAISS shards that answer as one index."""
