"""Thirteen other languages than English: their words, negation, numbers, order and answer types."""
