"""Days of a command: one date, or all dates of a range that have a drop.

options -> chosen_dates -> dates -> ingest_dates -> daily tables, printed counts
"""

from __future__ import annotations

import collections
import datetime
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import rich.table

from jobs.display.console import emit, warn
from jobs.nightly.erasure.suppressed import check_user_key
from jobs.nightly.ingestion import Ingested, ingest_day
from jobs.nightly.warehouse import (
    EVENTS,
    dates_of,
    dates_with_a_drop,
    every_day,
    open_warehouse,
    parse_date,
    range_of_drops,
)
from jobs.workflows.warehouses.versions import alone_in
from schemas.errors import QprError, UsageError
from schemas.quantities import counted, shortened

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
    dates = dates_with_a_drop(warehouse, [day for day in dates_of(warehouse, EVENTS) if begin <= day <= end])
    if not dates:
        raise QprError(f"{warehouse}: has no drop from {begin} to {end}. {range_of_drops(warehouse)}")
    every = {begin + datetime.timedelta(days=days) for days in range((end - begin).days + 1)}
    if missing := [str(day) for day in sorted(every.difference(dates))]:
        warn(f"no drop of {shortened(missing, 3)}; these days are left out")
    return dates


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
        check_user_key(warehouse, every_day(warehouse), dates, user_key, privacy=config.privacy)
        ingested = ingest_days(
            warehouse, dates, config, options=options, max_reject_ratio=max_reject_ratio, user_key=user_key
        )
    result = {"warehouse": warehouse, "days": [day.as_json() for day in ingested]}
    emit(result, as_json=as_json, table=lambda: _table(warehouse, ingested))


def ingest_days(
    warehouse: str,
    dates: Sequence[datetime.date],
    config: IngestConfig,
    *,
    options: PipelineOptions,
    max_reject_ratio: float,
    user_key: UserKey | None,
    on_day: Callable[[Ingested], None] = lambda _: None,
) -> list[Ingested]:
    """Ingest days as `ingest_day` does; warn once of those without user ids, unless that was chosen, and of HTML.

    Args:
        warehouse: its URL; nobody else writes to it.
        dates: the days.
        config: how to read them.
        options: Beam's.
        max_reject_ratio: maximum share of rejected rows of a day.
        user_key: of the hashes of users and questions that are written.
        on_day: called with each day that is done.

    Raises:
        QprError: a day cannot be ingested; days before it stay.
    """
    from pipelines.summary.value_notes import text_warnings

    ingested = []
    for date in dates:
        done = ingest_day(
            warehouse, date, config, options=options, max_reject_ratio=max_reject_ratio, user_key=user_key
        )
        on_day(done)
        ingested.append(done)
    if without := [done.day.date for done in ingested if done.without_users]:
        more = f" and {counted(len(without) - 1, 'more day')}" if len(without) > 1 else ""
        warn(
            f"no user ids in files of the drop of {without[0]}{more}, so a question counts that only one person "
            "asked. Log the column user_id (--column user_id=NAME) and give --min-users 5, or keep it by --min-users 1"
        )
    read = sum(
        (collections.Counter(done.day.manifest.counters) for done in ingested if not done.unchanged),
        start=collections.Counter(),
    )
    for warning in text_warnings(read):
        warn(warning)
    return ingested


def _table(warehouse: str, ingested: Sequence[Ingested]) -> rich.table.Table:
    columns = "date", "rows read", "kept", "waiting", "rejected", "erased", "of another day", "note"
    table = rich.table.Table(*columns, title=warehouse, title_justify="left")
    for day in ingested:
        counts = day.as_json()
        names = "rows_read", "rows_kept", "rows_waiting", "rows_rejected", "rows_erased", "rows_off_date"
        numbers = [f"{counts[name]:,}" for name in names]
        table.add_row(counts["date"], *numbers, "unchanged" if day.unchanged else "")
    return table
