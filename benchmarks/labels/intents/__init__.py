"""Answers whose questions all belong together: which are found, how certainly, and strays among them."""
