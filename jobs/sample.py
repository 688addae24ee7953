"""Placeholder: replaced as the job is written."""


def sample() -> None:
    """Not there yet."""
