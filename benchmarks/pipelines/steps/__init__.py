"""Cost of single steps of the pipelines, without an engine."""
