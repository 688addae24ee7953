"""Checkpoints of an unfinished training."""
