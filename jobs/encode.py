"""Placeholder: replaced as the job is written."""


def encode() -> None:
    """Not there yet."""
