"""Labelled pairs to clusters: connected components and held-out splits."""
