"""Confidence: the probability that a hit is right, from a query and its ranking."""
