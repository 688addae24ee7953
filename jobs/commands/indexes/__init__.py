"""Commands that build, search, measure and export an index."""
