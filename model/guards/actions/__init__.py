"""Verbs that name different actions."""
