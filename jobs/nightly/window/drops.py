"""Drops of a window that were not ingested, or changed since.

events, days -> check_drops, changed_drops -> dates, warnings
"""

from __future__ import annotations

import collections
import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobs.display.console import warn
from jobs.nightly.ingestion import distinct_files
from jobs.nightly.warehouse import (
    EVENTS,
    dates_of,
    dates_with_a_drop,
    first_of_window,
    ingest_command,
    is_log,
    log_files,
)
from jobs.options.inputs import input_files
from schemas.artifacts import storage
from schemas.errors import QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    from pipelines.graphs.settings import IngestConfig
    from pipelines.ingestion.days import Day


def check_drops(
    warehouse: str, dates: Sequence[datetime.date], days: Sequence[Day], last: datetime.date, window_days: int
) -> list[datetime.date]:
    """Warn of the days of a window that have log files but were not ingested, as after a failed night; return them.

    Warn of days of the night that are before its window, too.

    Args:
        warehouse: its URL.
        dates: days of the night, ascending.
        days: the ingested days of the window.
        last: day of the window.
        window_days: its length.

    Raises:
        QprError: the window has no ingested day.
    """
    first, ingested = first_of_window(last, window_days), {day.date for day in days}
    if before := [date for date in dates if date < first]:
        outside = (
            f"{counted(len(before), 'day')} before the window, which is {first} to {last}; the first is {before[0]}"
        )
        warn(f"not in this night: {outside}. A longer --window takes more days")
    others = [date for date in dates_of(warehouse, EVENTS) if first <= date <= last and date not in ingested]
    waiting = dates_with_a_drop(warehouse, others)
    if waiting:
        command = ingest_command(warehouse, waiting[0], waiting[-1])
        lacking = f"{counted(len(waiting), 'day')} with a drop that was not ingested, the first {waiting[0]}"
        warn(
            f"this night lacks {lacking}. "
            f"`{command}` with the options of this night reads the drop; then run the night again"
        )
    if not days:
        raise QprError(
            f"{warehouse}: no day from {first} to {last} is ingested. Give --date of one of them, or a longer --window"
        )
    return waiting


def changed_drops(
    warehouse: str, dates: Sequence[datetime.date], days: Sequence[Day], config: IngestConfig
) -> list[datetime.date]:
    """Warn of ingested days whose drop has other content by now, such as a file that came late; return their dates.

    Names and sizes of all files are listed, a thousand in a request. Only days in which these differ are read. A drop
    that was removed, or a part of it, is no change.

    Args:
        warehouse: its URL.
        dates: days of the night, whose drops it has read.
        days: the ingested days of the window.
        config: how to read files.

    Raises:
        QprError: the drops cannot be listed.
    """
    sizes = _sizes_of_drops(warehouse)
    others = [day for day in days if day.date not in dates and _has_other_files(day, sizes.get(str(day.date), {}))]
    changed = [day.date for day in others if _has_other_content(warehouse, day, config)]
    if changed:
        command = ingest_command(warehouse, changed[0], changed[-1])
        warn(
            f"{counted(len(changed), 'day')} ingested from a drop that has other content by now, the first "
            f"{changed[0]}. `{command}` with the options of this night reads it again; then run the night again"
        )
    return changed


def _sizes_of_drops(warehouse: str) -> Mapping[str, dict[str, int | None]]:
    """Return the sizes of the log files of each date, in bytes by their names; a store may not list sizes."""
    url = storage.join(warehouse, EVENTS)
    file_system, path = storage.locate(url)
    with storage.explained(url):
        file_system.invalidate_cache(path)
        files = file_system.find(path, detail=True)
    sizes: Mapping[str, dict[str, int | None]] = collections.defaultdict(dict)
    for file, details in files.items():
        folder, name = file.rsplit("/", 2)[-2:]
        if is_log(name):
            sizes[folder.removeprefix("date=")][name] = details["size"]
    return sizes


def _has_other_files(day: Day, sizes: Mapping[str, int | None]) -> bool:
    before = _sizes_read(day)
    return any(name not in before or size not in (None, before[name]) for name, size in sizes.items())


def _sizes_read(day: Day) -> Mapping[str, int | None]:
    """Return the sizes of the files that a day was read from, by their names."""
    return {_name(source.url): source.bytes for source in day.manifest.inputs}


def _name(url: str) -> str:
    return url.rsplit("/", 1)[-1]


def _has_other_content(warehouse: str, day: Day, config: IngestConfig) -> bool:
    """Return whether a day would be read from other files; a file that cannot be read is another one."""
    before, names = {source.digest for source in day.manifest.inputs}, _sizes_read(day)
    try:
        files = input_files(log_files(warehouse, day.date), config, example="")
        files.sort(key=lambda file: _name(file.url) not in names)  # of equal files the first counts
        _, inputs = distinct_files(files, on_repeat=lambda _: None)
    except QprError:
        return True
    return not {source.digest for source in inputs} <= before
