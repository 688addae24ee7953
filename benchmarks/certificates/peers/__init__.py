"""Semantic caches of other libraries."""
