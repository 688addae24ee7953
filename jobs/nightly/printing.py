"""A night of the command line: run alone in its warehouse, printed, with an exit code.

dates, settings -> print_night -> exit code
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final

import rich.console

from jobs.display.console import emit, two_columns
from jobs.display.safe_text import escape_controls
from jobs.nightly.flow import run_night
from jobs.nightly.ingestion import Ingested
from jobs.nightly.settings import NightTerms
from jobs.nightly.warehouse import open_warehouse
from jobs.workflows.warehouses.version_figures import rows_of_metrics, rows_of_report, table_of_changes
from jobs.workflows.warehouses.versions import alone_in
from schemas.errors import BadDropError, UnusableInputError

REFUSED = 3
"""Exit code of a night that the gate refused; a scheduler need not repeat it."""

_ROWS: Final = {
    "rows_read": "log rows of the night",
    "rows_kept": "log rows kept",
    "rows_rejected": "log rows rejected",
    "rows_waiting": "log rows that wait for more users",
    "rows_erased": "log rows erased",
}


def print_night(warehouse: str, dates: Sequence[datetime.date], terms: NightTerms, *, as_json: bool) -> int:
    """Run a night, print what it published or why not, and return the exit code.

    Raises:
        BadDropError: the rows of a day or of the window cannot be used.
        QprError: another night is under way, or a step failed.
    """
    open_warehouse(warehouse)
    with alone_in(warehouse) as check_alone:
        try:
            outcome = run_night(warehouse, dates, terms, check_alone)
        except UnusableInputError as error:  # another try has the same rows
            raise BadDropError(str(error)) from error
    version = outcome.version
    result = {
        "warehouse": warehouse,
        "published": None if outcome.unchanged else outcome.number,
        "unchanged": outcome.unchanged,
        "mended": list(outcome.mended),
        "days": [day.as_json() for day in outcome.ingested],
        "days_not_ingested": [str(date) for date in outcome.not_ingested],
        "days_changed": [str(date) for date in outcome.changed],
        "refused": version.refused,
        "table_of_changes": table_of_changes(warehouse, version),
        "version": {"version": outcome.number, **version.as_json()},
    }
    rows = {"date": str(version.date), "days": version.days, "encoder of": str(version.trained.date)}
    rows |= _rows_of_night(outcome.ingested)
    rows |= rows_of_metrics(version)
    rows |= rows_of_report(warehouse, version)
    table = two_columns(warehouse, rows)
    emit(result, as_json=as_json, table=lambda: rich.console.Group(table, escape_controls(outcome.line)))
    return REFUSED if version.refused else 0


def _rows_of_night(ingested: Sequence[Ingested]) -> dict[str, str]:
    """Return the numbers of log rows of the night's days, all together; the first is the sum of the others."""
    counts = [day.as_json() for day in ingested]
    return {label: f"{sum(day[name] for day in counts):,}" for name, label in _ROWS.items()}
