"""Clusters of paraphrases: coherence, size limits, splits, training pairs."""
