"""Segments of an index: the shards of one run each, and the deleted rows."""
