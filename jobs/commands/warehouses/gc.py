"""``qpr gc``: remove what no kept version of a warehouse names.

warehouse -> gc -> list of folders, removed with ``--delete``
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import AsJson
from jobs.options.warehouse import Warehouse


def gc(
    warehouse: Warehouse,
    keep: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Number of versions to keep, and of refused nights since the oldest."),
    ] = 7,
    grace_hours: Annotated[
        float,
        typer.Option(
            metavar="HOURS", min=0, max=87_600, help="Minimum age of what is removed; a night may still need it."
        ),
    ] = 24.0,
    *,
    delete: Annotated[bool, typer.Option("--delete", help="Remove the folders; else they are only listed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List or remove datasets, models and indexes that no kept version names.

    Drops, daily tables and the records of versions are never removed.

    Examples:
      qpr gc --warehouse warehouse --keep 7
      qpr gc --warehouse warehouse --keep 7 --delete
    """
    from jobs.workflows.warehouses.versions import sweep

    sweep(warehouse, keep=keep, grace_hours=grace_hours, delete=delete, as_json=as_json)
