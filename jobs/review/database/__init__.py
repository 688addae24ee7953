"""The database of a review: its tables, the check of their values, and connections."""
