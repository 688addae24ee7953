"""The option that names the columns of input files: ``--column question=query``.

--column, older options -> column_names -> our name of a column to the files'
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any

import typer

from jobs.display.console import say
from schemas.errors import UsageError

COLUMN: dict[str, Any] = {"metavar": "NAME=COLUMN", "rich_help_panel": "Columns"}

OlderColumn = Annotated[str | None, typer.Option(hidden=True, help="Older way to give --column.")]
"""One option for each column, in versions before ``--column``."""


def column_names(given: Sequence[str] | None, *, known: Collection[str], **older: str | None) -> dict[str, str]:
    """Return our name of each column that the command line names to its name in the files.

    Args:
        given: values of ``--column``, each our name, ``=`` and the name in the files.
        known: our names.
        older: values of older options by our name; each prints a note.

    Raises:
        UsageError: a value is no such pair, or a column is unknown or named twice.
    """
    names = {ours: theirs for ours, theirs in older.items() if theirs is not None}
    for ours, theirs in names.items():
        say(f"--{ours.replace('_', '-')}-column will go: give --column {ours}={theirs}")
    for value in given or []:
        ours, _, theirs = value.partition("=")
        if not ours or not theirs:
            raise UsageError(f"--column {value}: must be a name and a column of the files, such as question=query")
        if ours not in known:
            raise UsageError(f"--column {value}: there is no {ours}. Name one of {', '.join(known)}")
        if ours in names:
            raise UsageError(f"--column {value}: {ours} is {names[ours]} already. Leave one out")
        names[ours] = theirs
    return names
