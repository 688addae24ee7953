"""Adapters of a searcher to the caches of other libraries."""
