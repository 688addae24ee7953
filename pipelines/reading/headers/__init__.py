"""Columns of a file: names, suggestions."""
