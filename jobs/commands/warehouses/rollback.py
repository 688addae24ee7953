"""``qpr rollback``: publish an older version again.

warehouse, number -> rollback -> a new version that equals an old one
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import AsJson
from jobs.options.warehouse import Warehouse


def rollback(
    warehouse: Warehouse,
    to: Annotated[int, typer.Option(metavar="N", min=1, help="Number of the version to publish again.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Publish an older version again, under a new number.

    A night that is under way has to end or be stopped first.

    Example:
      qpr rollback --warehouse warehouse --to 41
    """
    from jobs.workflows.warehouses.versions import roll_back

    roll_back(warehouse, to, as_json=as_json)
