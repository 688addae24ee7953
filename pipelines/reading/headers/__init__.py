"""Columns of a file: names, fields of objects, suggestions."""
