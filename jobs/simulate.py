"""Placeholder: replaced as the job is written."""


def simulate() -> None:
    """Not there yet."""
