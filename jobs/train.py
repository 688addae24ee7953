"""Placeholder: replaced as the job is written."""


def train() -> None:
    """Not there yet."""
