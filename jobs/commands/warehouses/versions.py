"""``qpr versions``: the versions of a warehouse.

warehouse -> versions -> table, or one record
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import AsJson
from jobs.options.warehouse import Warehouse


def versions(
    warehouse: Warehouse,
    at: Annotated[
        str | None, typer.Option(metavar="N|DATE", help="Print this version, or the last one of a date, whole.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the versions that nights have published.

    The highest number is current. A refused version has no number.

    Examples:
      qpr versions --warehouse warehouse
      qpr versions --warehouse warehouse --at 2026-11-20 --json
    """
    from jobs.workflows.warehouses.versions import show_version, show_versions

    if at is None:
        show_versions(warehouse, as_json=as_json)
    else:
        show_version(warehouse, at, as_json=as_json)
