"""Erasure from tables in CSV and TSV: rows that stay keep their bytes.

text of a table, Mentions -> erase_rows -> text without the rows
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Final

from pipelines.privacy.mentions import Mentions
from pipelines.reading.csv_records import Record
from pipelines.reading.dialect import ExpectedColumns, rows_of
from pipelines.reading.sources import Format, Source

_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
"""A line; a carriage return ends one too, as some spreadsheets write it."""

_END: Final = re.compile(r"[\r\n]*\Z")


def erase_rows(text: str, erased: Mentions, kind: Format) -> tuple[str, int]:
    """Return a table without the rows that mention an erased question, and their number.

    The cells are separated as in the other commands that read the table. Names of erased questions are removed from
    the other rows; a row without one keeps its bytes. Of rows that an unclosed quote joins, only those are removed that
    mention a question.

    Args:
        text: of the table, without a byte-order mark.
        erased: questions.
        kind: ``csv`` or ``tsv``, which decides between delimiters that fit equally well.

    Raises:
        ValueError: a mention lies in several rows that an unclosed quote joins.
        csv.Error: a cell is too long.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    content = text.encode()
    rows, delimiter = rows_of(iter(_LINE.findall(content)), Source("", len(content), kind), ExpectedColumns())
    kept: list[bytes] = []
    removed = position = 0
    joined = False
    for number, row in enumerate(rows):
        start = content.index(row.raw, position)
        kept.append(content[position:start])  # blank lines
        position = start + len(row.raw)
        cells = _cells(row, delimiter)
        joined = joined or row.reason == "unbalanced_quote"
        if (number or not _is_header(cells)) and any(map(erased.mentions, _parts(row, cells, delimiter))):
            removed += 1
        else:
            kept.append(_without_names(row.raw, cells, delimiter, erased))
    after = b"".join([*kept, content[position:]]).decode()
    if joined and erased.mentions(after):
        raise ValueError("an erased question goes on in the next line, behind a quote that is never closed")
    return after, removed


def _cells(row: Record, delimiter: str) -> list[str]:
    """Return the cells of the line of a row, also of one whose quote joined further lines to it."""
    return next(csv.reader([row.raw.decode()], delimiter=delimiter), []) if row.reason else row.cells


def _parts(row: Record, cells: list[str], delimiter: str) -> Iterator[str]:
    """Yield the texts of a row in which a question may be: its cells, and the pieces of a malformed row."""
    yield from cells
    if row.reason:
        yield from row.raw.decode().split(delimiter)


def _without_names(raw: bytes, cells: list[str], delimiter: str, erased: Mentions) -> bytes:
    after = [erased.without_names(cell) for cell in cells]
    if after == cells:
        return raw
    sink = io.StringIO(newline="")
    end = _END.search(raw.decode())
    csv.writer(sink, delimiter=delimiter, lineterminator=end[0] if end else "").writerow(after)
    return sink.getvalue().encode()


def _is_header(cells: list[str]) -> bool:
    """Return whether the first row of a table has names of columns: several, each of one ASCII word."""
    return len(cells) > 1 and all(cell.isascii() and cell.isidentifier() for cell in cells)
