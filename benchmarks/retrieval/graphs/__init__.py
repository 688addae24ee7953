"""Graphs of codes: their links and their recall."""
