"""Erasure of questions and users from a whole warehouse, for good."""
