"""Dialect of a CSV or TSV file: its delimiter, and the number of cells of padded rows.

lines of a file -> open_rows -> records, header first

`csv.Sniffer` is not used: it mistakes commas inside quotes for delimiters, and spaces in long lines
(https://github.com/python/cpython/issues/119123, https://github.com/python/cpython/issues/88843).
"""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from pipelines.reading.csv_records import Record, records
from pipelines.reading.lines import physical_lines
from pipelines.reading.sources import Source

DELIMITERS: Final = {"csv": ",", "tsv": "\t"}
"""The delimiter that a file's name implies; chosen where several fit equally well."""

CANDIDATES: Final = (",", ";", "\t", "|")

_SAMPLE_BYTES: Final = 1 << 16
"""Approximate number of bytes of the first lines, by which the delimiter is found."""

_EXCEL: Final = re.compile(rb'"?sep=([^\r\n"])"?\r?\n?', re.IGNORECASE)
"""The first line in which Excel names the delimiter."""


class ExpectedColumns(NamedTuple):
    """Names of columns to find in a header; those in ``required`` must be present."""

    required: Collection[str] = ()
    optional: Collection[str] = ()


class Rows(NamedTuple):
    """The records of a file, its header first, and the delimiter of their cells."""

    records: Iterator[Record]
    delimiter: str


def open_rows(source: Source, expected: ExpectedColumns) -> Rows:
    """Return the records of a file; the delimiter is given, named by Excel, or found in the first 64 kB."""
    return rows_of(itertools.chain.from_iterable(physical_lines(source)), source, expected)


def has_whole_sample(source: Source) -> bool:
    """Return whether a file has all lines by which its delimiter, and so its columns, are found."""
    return not _take(itertools.chain.from_iterable(physical_lines(source)))[1]


def rows_of(lines: Iterator[bytes], source: Source, expected: ExpectedColumns) -> Rows:
    """Return the records in the lines of a file or of its start, without the line in which Excel names the delimiter.

    A row may have another number of cells than the header if most rows of the sample have that number, and if all
    cells without a name and all names without a cell are empty: spreadsheets pad rows with delimiters.
    """
    sample, is_whole = _take(lines)
    named = _EXCEL.fullmatch(sample[0]) if sample else None
    beginning = sample[1:] if named else sample
    delimiter = source.delimiter or (named and named[1].decode("latin-1"))
    delimiter = delimiter or _find_delimiter(beginning, DELIMITERS[source.format], expected, is_whole=is_whole)
    padded = _padded_width(_parse(beginning, delimiter, is_whole=is_whole))
    return Rows(records(itertools.chain(beginning, lines), delimiter=delimiter, padded_width=padded), delimiter)


def _take(lines: Iterator[bytes]) -> tuple[list[bytes], bool]:
    """Return the first lines, about `_SAMPLE_BYTES`, and True if the file has no others."""
    sample: list[bytes] = []
    size = 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if size >= _SAMPLE_BYTES:
            return sample, False
    return sample, True


def _parse(sample: Sequence[bytes], delimiter: str, *, is_whole: bool) -> list[Record]:
    parsed = list(records(iter(sample), delimiter=delimiter))
    return parsed if is_whole or len(parsed) < 3 else parsed[:-1]  # a quoted cell may continue after the sample


def _find_delimiter(sample: Sequence[bytes], implied: str, expected: ExpectedColumns, *, is_whole: bool) -> str:
    """Return the delimiter that finds most expected columns, then most rows of one width, then most columns."""
    if expected.required and _names(_parse(sample, implied, is_whole=is_whole)).issuperset(expected.required):
        return implied

    def score(delimiter: str) -> tuple[int, float, int]:
        parsed = _parse(sample, delimiter, is_whole=is_whole)
        matched = len(_names(parsed) & {*expected.required, *expected.optional})
        width = len(parsed[0].cells) if parsed else 0
        if width < 2:
            return matched, 0.0, 0
        widths = collections.Counter(len(row.cells) for row in parsed[1:])
        regular = widths.most_common(1)[0][1] / widths.total() if widths else 0.0
        return matched, regular, width

    return max(dict.fromkeys((implied, *CANDIDATES)), key=score)  # of equals the first: the one that the name implies


def _names(parsed: Sequence[Record]) -> set[str]:
    return {cell.strip() for cell in parsed[0].cells} if parsed else set()


def _padded_width(sample: Sequence[Record]) -> int | None:
    """Return the number of cells of most rows if it differs from the header's by empty cells alone, else None."""
    if len(sample) < 2:
        return None
    header, rows = sample[0].cells, [row.cells for row in sample[1:] if row.reason in (None, "ragged_row")]
    width = collections.Counter(map(len, rows)).most_common(1)[0][0] if rows else len(header)
    if width == len(header) or any(cell.strip() for cell in header[width:]):
        return None
    padded = sum(1 for cells in rows if len(cells) == width and not any(cells[len(header) :]))
    return width if 2 * padded > len(rows) else None
