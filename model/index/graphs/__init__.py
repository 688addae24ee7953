"""The graph of codes: the order of points in memory, and compiled walks."""
