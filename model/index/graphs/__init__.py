"""The graph of codes: links to every point, and the order of points in memory."""
