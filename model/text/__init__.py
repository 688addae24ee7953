"""Vocabulary and token ids of questions."""
