"""Cost and accuracy of trainings, beside sentence-transformers."""
