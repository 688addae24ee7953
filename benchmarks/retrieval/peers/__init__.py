"""Other programs for the same work."""
