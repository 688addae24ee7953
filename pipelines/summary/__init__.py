"""Summaries of a finished run: clusters, row balance, histograms."""
