"""Placeholder: replaced as the job is written."""

import typer


def index(context: typer.Context) -> None:
    """Not there yet."""
