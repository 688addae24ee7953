"""Placeholder: replaced as the job is written."""


def evaluate() -> None:
    """Not there yet."""
