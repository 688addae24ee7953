"""Apache Beam: logs or pairs in, a dataset out. Never imports torch or faiss."""
