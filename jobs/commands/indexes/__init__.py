"""Commands that build, search, measure, export and serve an index."""
