"""Days of a command: one date, or all dates of a range that have a drop.

options -> chosen_dates -> dates -> ingest_dates -> daily tables, printed counts
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

import rich.table

from jobs.display.console import emit, warn
from jobs.nightly.erasure.suppressed import check_user_key
from jobs.nightly.ingestion import Ingested, ingest_day
from jobs.nightly.warehouse import EVENTS, dates_of, open_warehouse, parse_date
from jobs.workflows.warehouses.versions import alone_in
from schemas.errors import QprError, UsageError

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import IngestConfig
    from pipelines.privacy.users import UserKey


def chosen_dates(warehouse: str, date: str | None, first: str | None, last: str | None) -> list[datetime.date]:
    """Return the dates of a command, ascending; of a range those without a drop are left out, with a warning.

    Raises:
        UsageError: neither a date nor a range is given, or both are, or one is in the future.
        QprError: no day of the range has a drop.
    """
    today = datetime.datetime.now(datetime.UTC).date()
    if date is not None:
        if first or last:
            raise UsageError("--date: is one day, --from and --to are a range. Give either")
        return [parse_date(date, option="--date", today=today)]
    if not (first and last):
        raise UsageError("give --date, or both --from and --to")
    begin = parse_date(first, option="--from", today=today)
    end = parse_date(last, option="--to", today=today)
    if begin > end:
        raise UsageError(f"--from {begin}: is after --to {end}")
    there = set(dates_of(warehouse, EVENTS))
    wanted = [begin + datetime.timedelta(days=days) for days in range((end - begin).days + 1)]
    found = [day for day in wanted if day in there]
    if not found:
        raise QprError(f"{warehouse}: has no drop from {begin} to {end}")
    if len(found) < len(wanted):
        missing = [str(day) for day in wanted if day not in there]
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        warn(f"no drop of {', '.join(missing[:3])}{more}; these days are left out")
    return found


def ingest_dates(
    warehouse: str,
    dates: Sequence[datetime.date],
    config: IngestConfig,
    *,
    options: PipelineOptions,
    max_reject_ratio: float,
    user_key: UserKey | None,
    as_json: bool,
) -> None:
    """Ingest days and print their counts.

    Raises:
        QprError: a day cannot be ingested; days before it stay.
    """
    open_warehouse(warehouse)
    with alone_in(warehouse):
        terms = {"options": options, "max_reject_ratio": max_reject_ratio, "user_key": user_key}
        check_user_key(warehouse, dates, user_key, min_users=config.privacy.min_users)
        ingested = [ingest_day(warehouse, date, config, **terms) for date in dates]
    result = {"warehouse": warehouse, "days": [day.as_json() for day in ingested]}
    emit(result, as_json=as_json, table=lambda: _table(warehouse, ingested))


def _table(warehouse: str, ingested: Sequence[Ingested]) -> rich.table.Table:
    columns = "date", "rows read", "kept", "waiting", "rejected", "of another day", ""
    table = rich.table.Table(*columns, title=warehouse, title_justify="left")
    for day in ingested:
        counts = day.as_json()
        names = "rows_read", "rows_kept", "rows_waiting", "rows_rejected", "rows_off_date"
        numbers = [f"{counts[name]:,}" for name in names]
        table.add_row(counts["date"], *numbers, "unchanged" if day.unchanged else "")
    return table
