"""``qpr versions``: the versions of a warehouse.

warehouse -> versions -> table, one record, or its page
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import AsJson, Overwrite
from jobs.options.warehouse import Warehouse


def versions(
    warehouse: Warehouse,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="N|DATE|refused",
            help="Print this version, the newest one of a date, or the last one that the gate refused, whole.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.html",
            help="Write a page of its metrics and its largest clusters that changed, with their questions; without "
            "--at of the current version.",
        ),
    ] = None,
    *,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """List the versions that nights have published.

    The highest number is current. A refused version has no number. A page of --report has questions of the logs:
    `qpr erase` does not find it, so delete it when you have read it.

    Examples:
      qpr versions --warehouse warehouse
      qpr versions --warehouse warehouse --at 2026-11-20 --json
      qpr versions --warehouse warehouse --at refused --report refused.html
    """
    from jobs.workflows.warehouses.versions import show_version, show_versions

    if at is None and report is None:
        show_versions(warehouse, as_json=as_json)
    else:
        show_version(warehouse, at, report=report, overwrite=overwrite, as_json=as_json)
