"""Removal of validation and test questions that occur in train."""
