"""Rows of an index: their cells, and those that a request may find."""
