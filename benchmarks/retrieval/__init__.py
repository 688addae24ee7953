"""Quality and speed of encoding, indexing, searching and serving, beside BM25, FAISS and sentence-transformers."""
