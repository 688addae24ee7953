"""Sizing of an index: recall, and the lists to search for it."""
