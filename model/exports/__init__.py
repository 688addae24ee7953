"""Exports of an index to files and engines of others."""
