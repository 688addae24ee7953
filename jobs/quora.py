"""Placeholder: replaced as the job is written."""

import typer


def quora(context: typer.Context) -> None:
    """Not there yet."""
