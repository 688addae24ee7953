"""The encoder that sums words and character n-grams."""
