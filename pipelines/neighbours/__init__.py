"""Nearest neighbours of each question among all questions of the log, by their words."""
