"""Transformer encoders in the format of sentence-transformers."""
