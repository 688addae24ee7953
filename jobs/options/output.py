"""Options of every command that writes or prints.

command line -> Annotated types -> commands
"""

from __future__ import annotations

import typing
from typing import Annotated, Any

import typer

from schemas.errors import UsageError


def lasting(url: str | None) -> str | None:
    """Return an output's URL.

    Raises:
        UsageError: it is in this process's memory, which ends with the command.
    """
    if url and any(part.startswith("memory:") for part in url.split("::")):  # :: chains URLs, such as dir::memory://a
        raise UsageError(f"{url}: is in this command's memory and gone when it ends. Name a file or folder on a store")
    return url


OutputFolder = Annotated[
    str, typer.Option("--output", callback=lasting, metavar="FOLDER", help="Folder to write, any fsspec URL.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing output.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check, print the plan, write nothing.")]


def choices(kind: Any) -> str:
    """Return the metavar of an option whose values are those of a ``Literal``."""
    return f"[{'|'.join(typing.get_args(kind))}]"


def folder(text: str) -> Any:
    """Return the declaration of an option that names a folder to read."""
    return typer.Option(metavar="FOLDER", help=text)


def model_to_read(text: str) -> Any:
    """Return the declaration of an option that names a model to read."""
    return typer.Option(metavar="MODEL", help=text)


def file_to_write(text: str, *, show_default: str | bool = True) -> Any:
    """Return the declaration of an option that names a file to write."""
    return typer.Option(callback=lasting, metavar="FILE", help=text, show_default=show_default)
