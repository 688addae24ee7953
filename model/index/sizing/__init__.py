"""Sizing of an index: its plan within a memory budget, recall, and the lists to search for it."""
