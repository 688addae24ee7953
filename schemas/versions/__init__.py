"""Versions of a warehouse: a consistent dataset, model and index under one number."""
