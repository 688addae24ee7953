"""Names and nouns that exclude each other."""
