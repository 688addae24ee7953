"""Replacement of personal data, on generated texts."""
