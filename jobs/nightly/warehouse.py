"""Layout of a warehouse: drops, daily tables, artefacts and versions in one folder of any store.

warehouse URL -> open_warehouse -> drop_of, days_of -> files of a day, daily tables of a window

    warehouse.json           layout of the folder
    events/date=YYYY-MM-DD/  log files of a day, as they arrive; only read
    daily/date=YYYY-MM-DD/   one day's counts of questions and answers, with its rejected rows
    datasets/ models/ indexes/ splits/ reports/ certificates/
                             artefacts, each in a folder named by the digest of what it is made from
    erased/NNNNNNNN.json     keyed hashes of erased questions and users, whose rows are not read again
    leases/                  readers of versions, which `qpr gc` spares
    versions/NNNNNNNN.json   published versions; versions/refused/ has those that the gate refused
"""

from __future__ import annotations

import datetime
import functools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from jobs.display.console import say
from jobs.nightly.steps import finished
from jobs.options.inputs import check_inputs
from pipelines.ingestion.days import Day
from schemas.artifacts import storage
from schemas.artifacts.concurrent_reads import read_each
from schemas.errors import BadDropError, DamagedError, QprError, UsageError, WrongColumnsError
from schemas.versions import layout
from schemas.versions.version import LAYOUT

if TYPE_CHECKING:
    from pipelines.reading.headers.columns import Column
    from pipelines.reading.sources import Source as LogFile

EVENTS: Final = "events"
DAILY: Final = "daily"

_DATE_FOLDER: Final = re.compile(r"date=(\d{4}-\d\d-\d\d)")


def open_warehouse(warehouse: str) -> None:
    """Check the layout of a warehouse, migrate an older one, and write it where there are only drops so far.

    Raises:
        QprError: there is no drop, or the layout cannot be used.
    """
    version = layout.read_layout(warehouse)
    if version is None:
        if not storage.children(storage.join(warehouse, EVENTS)):
            place = storage.join(warehouse, EVENTS, "date=2026-11-20")
            raise QprError(
                f"{warehouse}: no warehouse and no drop. Put a day's log files into a folder such as {place}"
            )
        layout.write_layout(warehouse)
    elif version < LAYOUT:
        layout.migrate(warehouse, version)
        say(f"{warehouse}: migrated from layout {version} to {LAYOUT}; older releases cannot use it any more")


def parse_date(text: str, *, option: str, today: datetime.date) -> datetime.date:
    """Return the date of an option.

    Raises:
        UsageError: it is no date, or in the future.
    """
    try:
        date = datetime.date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{option} {text}: must be a date such as 2026-11-20") from error
    if date > today + datetime.timedelta(days=1):  # a clock may be a time zone ahead
        raise UsageError(f"{option} {text}: is in the future; today is {today}")
    return date


def dates_of(warehouse: str, folder: str) -> list[datetime.date]:
    """Return the dates with a folder in `EVENTS` or `DAILY`, ascending; other names are ignored."""
    return sorted(_dates(storage.children(storage.join(warehouse, folder))))


def date_url(warehouse: str, folder: str, date: datetime.date) -> str:
    """Return the URL of a day's folder."""
    return storage.join(warehouse, folder, f"date={date}")


def ingest_command(warehouse: str, first: datetime.date, last: datetime.date, *options: str) -> str:
    """Return the command that ingests the days from ``first`` to ``last`` again, for advice."""
    return " ".join([f"qpr ingest --warehouse {shlex.quote(warehouse)} --from {first} --to {last}", *options])


def log_files(warehouse: str, date: datetime.date) -> list[str]:
    """Return the URLs of a day's log files, sorted; names that begin with a dot or an underscore are none."""
    url = date_url(warehouse, EVENTS, date)
    return [storage.join(url, name) for name in storage.children(url) if is_log(name)]


def is_log(name: str) -> bool:
    """Return whether a name in the folder of a day can be that of a log file."""
    return name[:1] not in "._"  # a store may list a folder as a file without a name


def dates_with_a_drop(warehouse: str, dates: Iterable[datetime.date]) -> list[datetime.date]:
    """Return those dates that have a log file; owners empty folders of drops that they deleted."""
    return [date for date in dates if log_files(warehouse, date)]


def range_of_drops(warehouse: str) -> str:
    """Return a sentence with the dates of the first and the last drop, for the message about one that is missing."""
    dates = dates_with_a_drop(warehouse, dates_of(warehouse, EVENTS))
    return f"There are drops from {dates[0]} to {dates[-1]}" if dates else "There is no drop at all"


def drop_of(warehouse: str, date: datetime.date) -> list[str]:
    """Return the log files of a day, at least one.

    Raises:
        BadDropError: a folder is among them.
        QprError: there is none.
    """
    files, url = log_files(warehouse, date), date_url(warehouse, EVENTS, date)
    if not files:
        raise QprError(f"{url}: no log file of {date}. {range_of_drops(warehouse)}")
    for file in files:
        if storage.is_folder(file):
            raise BadDropError(f"{file}: is a folder, and folders of a drop are not read. Move its files into {url}")
    return files


def check_columns(
    sources: Sequence[LogFile], columns: Sequence[Column], names: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the columns of every file of a drop, by URL, if all have the required ones.

    Args:
        sources: the files.
        columns: of a log.
        names: our name of a column -> the file's, where they differ.

    Raises:
        BadDropError: a file has other columns, and would have them also if the rest of it were still being copied.
        QprError: a file cannot be read, or is so short that its columns can still come.
    """
    from pipelines.reading.reader import are_columns_final, check_header

    try:
        return check_inputs(sources, columns, names)
    except WrongColumnsError:
        for source in sources:
            try:
                check_header(source, columns, names)
            except WrongColumnsError as error:
                if are_columns_final(source):
                    raise BadDropError(str(error)) from error
        raise


def day_of(warehouse: str, date: datetime.date) -> Day | None:
    """Return a day that was ingested, or None.

    Raises:
        QprError: its manifest is damaged.
    """
    url = date_url(warehouse, DAILY, date)
    try:
        manifest = finished(warehouse, f"{DAILY}/date={date}", "day")
    except DamagedError as error:
        raise QprError(f"{error}. For this, remove {url} and run `{ingest_command(warehouse, date, date)}`") from error
    return Day(date, url, manifest) if manifest else None


def min_users_of(day: Day) -> int:
    """Return the minimum number of users of a question with which a day was ingested."""
    return int((day.manifest.configuration.get("privacy") or {}).get("min_users", 1))


def first_of_window(last: datetime.date, window_days: int) -> datetime.date:
    """Return the first date of a window by its last one and its number of days."""
    return last - datetime.timedelta(days=window_days - 1)


def every_day(warehouse: str) -> list[Day]:
    """Return the days that were ingested, ascending.

    Raises:
        QprError: a manifest is damaged.
    """
    return days_on(warehouse, dates_of(warehouse, DAILY))


def days_of(warehouse: str, last: datetime.date, window_days: int) -> list[Day]:
    """Return the ingested days of the window that ends with ``last``.

    Raises:
        QprError: a manifest is damaged.
    """
    first = first_of_window(last, window_days)
    return days_on(warehouse, [date for date in dates_of(warehouse, DAILY) if first <= date <= last])


def days_on(warehouse: str, dates: Sequence[datetime.date]) -> list[Day]:
    """Return the days with these dates that were ingested, in the same order.

    Raises:
        QprError: a manifest is damaged.
    """
    return [day for day in read_each(functools.partial(day_of, warehouse), dates) if day]


def days_that_left(warehouse: str, first: datetime.date, earlier: datetime.date) -> list[Day]:
    """Return the ingested days from the first date of an earlier window until the day before that of a later one.

    Raises:
        QprError: a manifest is damaged.
    """
    return days_of(warehouse, first - datetime.timedelta(days=1), (first - earlier).days)


def in_window(days: Iterable[Day], last: datetime.date, window_days: int) -> list[Day]:
    """Return those of some days that are in the window that ends with ``last``, ascending."""
    first = first_of_window(last, window_days)
    return sorted((day for day in days if first <= day.date <= last), key=lambda day: day.date)


def _dates(names: list[str]) -> Iterator[datetime.date]:
    for name in names:
        if match := _DATE_FOLDER.fullmatch(name):
            try:
                yield datetime.date.fromisoformat(match[1])
            except ValueError:
                continue
