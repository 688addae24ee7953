"""Training losses with one interface."""
