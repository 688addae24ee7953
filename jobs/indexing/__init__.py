"""Questions of files to FAISS shards."""
