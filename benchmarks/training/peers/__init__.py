"""The trainings of sentence-transformers."""
