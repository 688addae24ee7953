"""Placeholder: replaced as the job is written."""


def search() -> None:
    """Not there yet."""
