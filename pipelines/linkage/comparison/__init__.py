"""Comparison of question pairs: blocking, tokenization, features."""
