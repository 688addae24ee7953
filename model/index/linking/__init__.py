"""The building of a graph: groups of near vectors, the nearest others of each, and links."""
