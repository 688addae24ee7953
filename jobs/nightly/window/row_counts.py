"""Days with an unusual number of rows, or of rejected ones, or without the answer ids of other days.

days of a window -> warn_of_unusual_rows -> warnings
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from jobs.display.console import warn
from jobs.nightly.gate.answer_mix import DAYS, FEWEST_DAYS
from jobs.nightly.warehouse import ingest_command
from pipelines.ingestion.days import is_of_earlier_release, read_day_counts
from pipelines.intermediate import LOG_ANSWER_ID
from schemas.quantities import counted, rounded_percent

if TYPE_CHECKING:
    from pipelines.ingestion.days import Day

FACTOR: Final = 1.6
"""Factor beyond the smallest and largest of the days before: a drop of which half was copied has 2, and so has one that
came twice."""

MORE_REJECTED: Final = 0.02
"""Share of rejected rows beyond the largest of the days before."""


def warn_of_unusual_rows(warehouse: str, dates: Sequence[datetime.date], days: Sequence[Day]) -> None:
    """Warn of days whose numbers of rows are unlike those of the days before, which no gate refuses.

    Warn of days of an earlier release, too, if the days of the night have ids of answers.

    Args:
        warehouse: its URL, for the advice.
        dates: days of the night.
        days: the ingested days of the window, ascending.

    Raises:
        QprError: a daily table is damaged.
    """
    for place, day in enumerate(days):
        if day.date in dates and place:
            before = days[max(place - DAYS, 0) : place]
            for fault in _faults(day, before):
                warn(f"{day.date}: {fault}")
    has_ids = any(_share_with_id(day) for day in days if day.date in dates)
    old = [day.date for day in days if is_of_earlier_release(day)] if has_ids else []  # opens a file of each day
    if old:
        again = ingest_command(warehouse, old[0], old[-1])
        warn(
            f"{counted(len(old), 'day')} ingested by an earlier release, without the ids of answers, the first "
            f"{old[0]}: some questions keep the old text of an edited answer. Run `{again}` with the options of this "
            "night to read the days again"
        )


def _faults(day: Day, before: Sequence[Day]) -> Iterator[str]:
    if len(before) >= FEWEST_DAYS:
        yield from _faults_of_numbers(day, before)
    if not _share_with_id(day) and _share_with_id(before[-1]) > 0.5:
        yield (
            f"no row has an answer id, unlike {before[-1].date}, so all answers count as new. If the column was "
            "renamed, give --column answer_id=NAME"
        )


def _faults_of_numbers(day: Day, before: Sequence[Day]) -> Iterator[str]:
    rows, others = _rows(day), [_rows(other) for other in before]
    compared = f"the {len(before)} days before"
    if rows * FACTOR < min(others):
        yield (
            f"{counted(rows, 'row')}, and at least {min(others):,} on each of {compared}. If the drop is not complete, "
            "copy it again and run the night of this day again"
        )
    if rows > FACTOR * max(others):
        yield f"{counted(rows, 'row')}, and at most {max(others):,} on each of {compared}. Check that no file is twice"
    share, largest = _rejected_share(day), max(map(_rejected_share, before))
    if share > largest + MORE_REJECTED:
        reason, number = max(_reasons(day), key=lambda each: each[1])
        yield (
            f"{rounded_percent(share)} of the rows are rejected, and at most {rounded_percent(largest)} on each of "
            f"{compared}. {number:,} of them: {reason}. The table rejected of {day.url} has them"
        )


def _rows(day: Day) -> int:
    return day.manifest.counters.get("rows_read", 0)


def _rejected_share(day: Day) -> float:
    return day.manifest.counters.get("rows_rejected", 0) / max(_rows(day), 1)


def _reasons(day: Day) -> Iterator[tuple[str, int]]:
    yield "without a reason", 0
    for name, number in day.manifest.counters.items():
        if name.startswith("rejected_"):
            yield name.removeprefix("rejected_").replace("_", " "), number


def _share_with_id(day: Day) -> float:
    """Return the share of a day's counts whose answer has an id in the log."""
    with_id, rows = 0, 0
    for counts in read_day_counts(day, [LOG_ANSWER_ID.name]):
        with_id, rows = with_id + len(counts) - counts[LOG_ANSWER_ID.name].null_count, rows + len(counts)
    return with_id / max(rows, 1)
