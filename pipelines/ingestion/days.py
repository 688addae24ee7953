"""One day of a log as counts, and counts of days as input of a dataset.

ASKED rows of a drop -> merge_day -> one row a question form, answer and answer form -> DayFile -> read_day_file
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.intermediate import ASKED, LOG_ANSWER_ID, REJECTS, USER
from pipelines.privacy.sealing import seal, unseal
from pipelines.privacy.users import UserKey
from pipelines.questions.aggregation import sum_equal_rows
from pipelines.questions.row_filters import IGNORED
from pipelines.summary.cluster_summary import open_parquet
from pipelines.writing.parquet import parquet_bytes
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Manifest, read_verified
from schemas.artifacts.table_files import read_rows
from schemas.errors import QprError
from schemas.tables import REJECTED
from schemas.text import fold
from schemas.text_arrays import hash64_all

COUNTS: Final = "asked"
"""Table of a day with its counts; the others are `WAITING` and ``rejected``."""

WAITING: Final = "waiting"
"""Table of a day with the rows of questions that too few users asked on it, sealed with the user key."""

WAITING_ROWS: Final = ASKED.append(USER)

ADDED: Final = (LOG_ANSWER_ID.name,)
"""Columns that days of an earlier release lack."""

_FORM: Final = ("question_id", "answer_id", "text", "answer", "key", LOG_ANSWER_ID.name)

_CARRIED: Final = ("rows_read", "readable_", "unreadable_", "ambiguous_", "replaced_", "rows_erased")
"""Beginnings of the counters of a day that a dataset adds up; it counts the others itself."""


class DayFile(NamedTuple):
    """One file of an artefact: the URL of its folder and its entry in the manifest."""

    url: str
    file: File


class Day(NamedTuple):
    """A day of a warehouse: its date, the URL of its artefact and its manifest."""

    date: datetime.date
    url: str
    manifest: Manifest

    @property
    def files(self) -> list[DayFile]:
        """Return its files, with absolute paths where they are local, for workers elsewhere."""
        url = storage.local_path(self.url) or self.url
        return [DayFile(url, file) for file in self.manifest.files]

    @property
    def bytes(self) -> int:
        """Return the size of its counts."""
        return sum(file.bytes for file in (*self.manifest.of(COUNTS), *self.manifest.of(WAITING)))

    def carried(self, ignored: Sequence[str]) -> dict[str, int]:
        """Return the counters that a dataset adds up.

        Args:
            ignored: answers that the dataset ignores. The day counted rows by their places in a list of its own.
        """
        counters = self.manifest.counters
        places = {fold(answer): place for place, answer in reversed([*enumerate(ignored)])}  # of equal ones the first
        own = self.manifest.configuration.get("validation", {}).get("ignored_answers", ())
        rows = {
            f"{IGNORED}{places[fold(answer)]}": counters[name]
            for place, answer in enumerate(own)
            if (name := f"{IGNORED}{place}") in counters and fold(answer) in places
        }
        return {name: n for name, n in counters.items() if name.startswith(_CARRIED)} | rows


def is_of_earlier_release(day: Day) -> bool:
    """Return whether the counts of a day lack `ADDED`, and so the ids of its answers; of large files the ends are read.

    Raises:
        QprError: a file cannot be read.
    """
    for file in day.manifest.of(COUNTS)[:1]:
        url = storage.join(day.url, file.path)
        try:
            with open_parquet(day.url, file) as content:
                return not set(ADDED) <= set(content.schema_arrow.names)
        except pa.ArrowInvalid as error:
            advice = f"Make the day again by `qpr ingest` with --date {day.date}"
            raise QprError(f"{url}: cannot be read as Parquet; the file changed or is damaged. {advice}") from error
    return False


def beginning_of(date: datetime.date) -> datetime.datetime:
    """Return the beginning of a day in UTC."""
    return datetime.datetime.combine(date, datetime.time(), datetime.UTC)


def merge_day(asked: pa.Table) -> pa.Table:
    """Return one row a question form, answer and answer form, in an order that only the rows decide.

    Args:
        asked: ASKED.
    """
    return sum_equal_rows(asked, _FORM, ASKED)


def waiting_file(waiting: pa.Table, key: UserKey) -> tuple[bytes, int]:
    """Return the sealed file of `WAITING`, and its number of rows; equal rows give equal bytes.

    Args:
        waiting: WAITING_ROWS.
        key: of the seal.
    """
    rows = sum_equal_rows(waiting, [*_FORM, USER.name], WAITING_ROWS)
    return seal_rows(rows, key), len(rows)


def seal_rows(waiting: pa.Table, key: UserKey) -> bytes:
    """Return rows of `WAITING` as a sealed file."""
    return seal(parquet_bytes(waiting, compression_level=None, use_dictionary=False), key)


def read_waiting(content: bytes, key: UserKey | None, *, name: str, rows: int) -> pa.Table:
    """Return the rows of a sealed file.

    Args:
        content: of the file.
        key: of the seal.
        name: of the file, for messages.
        rows: by the manifest.

    Raises:
        QprError: it cannot be opened with this key, or is damaged.
    """
    parts = read_rows(unseal(content, key, name=name), WAITING_ROWS, name=name, rows=rows, absent=ADDED)
    return pa.concat_tables([WAITING_ROWS.empty_table(), *parts])


def off_date_counts(times: pa.ChunkedArray, date: datetime.date) -> dict[str, int]:
    """Return how many rows have a time, and how many of these are of another day, or more than a day away.

    Args:
        times: (rows,) times in UTC in microseconds; null for a row without one.
        date: the day of the drop, in UTC.
    """
    day = np.datetime64(date, "us").astype(np.int64)
    length = np.int64(24 * 3600 * 10**6)
    stamped = times.drop_null().cast(pa.int64()).to_numpy()
    off = (stamped < day) | (stamped >= day + length)
    far = (stamped < day - length) | (stamped >= day + 2 * length)
    return {
        "rows_stamped": len(stamped),
        "rows_off_date": int(np.count_nonzero(off)),
        "rows_far_off_date": int(np.count_nonzero(far)),
    }


def read_day_counts(day: Day, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield columns of ASKED of a day's files of counts.

    Raises:
        QprError: a file is missing or damaged.
    """
    schema = pa.schema([ASKED.field(name) for name in columns])
    for url, file in day.files:
        if file.table == COUNTS:
            name = storage.join(url, file.path)
            content = read_verified(url, file)
            for rows in read_rows(content, ASKED, name=name, rows=file.rows, columns=columns, absent=ADDED):
                yield rows.cast(schema)


def read_day_file(day_file: DayFile, key: UserKey | None) -> Iterator[tuple[str, pa.Table]]:
    """Yield the name of the table and the rows of a file of a day: ASKED, WAITING_ROWS, or REJECTS.

    Args:
        day_file: the file.
        key: of sealed files.

    Raises:
        QprError: it is missing or damaged, or sealed with another key.
    """
    url, file = day_file
    if file.table == WAITING:
        content = read_verified(url, file)
        yield WAITING, read_waiting(content, key, name=storage.join(url, file.path), rows=file.rows)
        return
    schema, absent = (ASKED, ADDED) if file.table == COUNTS else (REJECTED, ())
    name = storage.join(url, file.path)
    for rows in read_rows(read_verified(url, file), schema, name=name, rows=file.rows, absent=absent):
        yield file.table, rows.cast(ASKED) if file.table == COUNTS else _as_rejects(rows)


def _as_rejects(rejected: pa.Table) -> pa.Table:
    keys = hash64_all(rejected["payload"].combine_chunks())
    return rejected.append_column("shard_key", keys).select(REJECTS.names).cast(REJECTS)
