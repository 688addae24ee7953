"""Command-line options shared by commands."""
