"""Cost and counts of the pipelines, beside other programs for the same work."""
