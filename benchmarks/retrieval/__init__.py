"""Quality and speed of encoding and searching, beside BM25 and sentence-transformers."""
