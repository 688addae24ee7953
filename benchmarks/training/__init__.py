"""Cost and accuracy of trainings, also on wrong labels, beside sentence-transformers."""
