"""The graph of codes: links to every point, the order of points in memory, and compiled walks."""
