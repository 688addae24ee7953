"""Placeholder: replaced as the job is written."""

import typer


def clusters(context: typer.Context) -> None:
    """Not there yet."""
