"""Versions of a warehouse: their list, one record, removal, and reading one that a lease holds."""
