"""Titles above the header of a table: spreadsheets and reports often have some, and then no column has its name.

first row, text after it -> find_header -> the row that has the names of the columns
"""

from __future__ import annotations

import collections
import csv
from collections.abc import Collection, Sequence
from typing import Final

from pipelines.privacy.patterns import replace_personal

_MIN_SHARE: Final = 0.8
"""Minimum share of the rows that have the number of cells of a header below a title."""

_SHOWN: Final = 100
"""Maximum characters of a row in a message."""


def find_header(first: Sequence[str], text: bytes, *, names: Collection[str], delimiters: Sequence[str]) -> str | None:
    """Return the first row that has all names, else the one of several cells below a title; None without either.

    Args:
        first: cells of the first row.
        text: some rows after it, as they are in the file.
        names: of the columns to find.
        delimiters: those that may separate the cells, the most probable first.
    """
    tables = {delimiter: _rows(text, delimiter) for delimiter in delimiters}
    for delimiter, rows in tables.items():
        for cells in rows:
            if set(cells).issuperset(names):
                return delimiter.join(cells)
    if sum(map(bool, first)) > 1:
        return None
    below = {delimiter: _below_title(rows) for delimiter, rows in tables.items()}
    return next((delimiter.join(cells) for delimiter, cells in below.items() if cells), None)


def explain_header(url: str, row: str, *, names: Collection[str], first: str) -> str:
    """Return the message about a header that is not the first row."""
    shown, header = (replace_personal(text)[0][:_SHOWN] for text in (first, row))  # the first may be one of a log
    cause = f"no column {', '.join(names)} in its first row, {shown!r}"
    return f"{url}: {cause}. If the names of the columns are in the row {header!r}, delete all rows above it"


def _below_title(rows: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """Return the first row with the number of cells of nearly all rows and several that are not empty."""
    widths = collections.Counter(map(len, rows))
    width, count = widths.most_common(1)[0] if widths else (0, 0)
    if width < 2 or count < _MIN_SHARE * len(rows):
        return None
    return next((cells for cells in rows if len(cells) == width and sum(map(bool, cells)) > 1), None)


def _rows(text: bytes, delimiter: str) -> list[list[str]]:
    try:
        lines = text.decode(errors="replace").splitlines(keepends=True)
        rows = [[cell.strip() for cell in cells] for cells in csv.reader(lines, delimiter=delimiter)]
        return [cells for cells in rows if any(cells)]
    except csv.Error:
        return []
