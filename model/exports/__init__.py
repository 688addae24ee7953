"""Exports of an index: files and collections of other engines."""
