"""Records of a CSV file, with recovery from unbalanced quotes.

physical lines -> records -> cells and raw lines of one record after another

`csv.reader` finds the cells but cannot recover: one unbalanced quote would make the rest of the file a single cell. So
the lines of the current record are kept, and those of a malformed record, except its first, are read again.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pipelines.reading.lines import MAX_ROW_BYTES

_RETURNS: Final = 4
"""Bytes that may be read again for each byte read: a file full of stray quotes takes linear time, not quadratic."""

_RETURN: Final = re.compile(rb"(?<=\r)(?![\r\n]|$)")
_MIN_LIMIT: Final = 1024  # bytes that a record of several lines may always have


class Record(NamedTuple):
    """One record: its cells, their raw bytes, and the reason if it is unusable."""

    cells: list[str]
    raw: bytes
    reason: str | None


def records(lines: Iterator[bytes], *, delimiter: str, padded_width: int | None = None) -> Iterator[Record]:
    """Yield every record that is not blank; the first is the header, whose number of cells the others must have.

    A record may also have ``padded_width`` cells if those beyond the header's are empty.

    Reasons are ``ragged_row``, ``unbalanced_quote``, ``row_too_long`` and ``invalid_utf8``. A stray quote joins lines
    to a record with another number of cells, or with text after a closing quote: its first line is rejected as
    ``unbalanced_quote``, and reading continues at the second. Carriage returns between records of
    the header's width end lines too, as in files that were joined from several systems.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
    feed = _Feed(lines, delimiter, padded_width)
    reader = csv.reader(feed, delimiter=delimiter)
    width = 0
    while True:
        feed.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a carriage return in the middle of a line
            if feed.split(width):
                continue
            cells = None
        except _TooLongError:
            cells = None
        if cells is not None and (not cells or (width > 1 and len(cells) == 1 and not feed.record[0].strip())):
            continue
        width = width or len(cells or ())
        reason = feed.judge(cells, width)
        if reason in ("unbalanced_quote", "row_too_long"):
            feed.retract()
        raw = feed.record[0] if len(feed.record) == 1 else b"".join(feed.record)
        feed.credit += _RETURNS * len(raw)
        yield Record(cells or [], raw, reason)


class _TooLongError(Exception):
    """A record is longer than `MAX_ROW_BYTES`."""


class _Feed:
    """Iterator of lines for `csv.reader` that keeps those of the current record."""

    def __init__(self, lines: Iterator[bytes], delimiter: str, padded_width: int | None) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._padded_width = padded_width
        self._returned: list[bytes] = []  # the next one last
        self.credit = _RETURNS * MAX_ROW_BYTES
        self.begin()

    def begin(self) -> None:
        self.record: list[bytes] = []
        self._size = 0
        self._limit = min(max(self.credit, _MIN_LIMIT), MAX_ROW_BYTES)
        self._damaged = self._unclosed = False

    def retract(self) -> None:
        """Put all lines of the record except the first back into the feed."""
        self._returned += reversed(self.record[1:])
        self.credit -= self._size - len(self.record[0])
        del self.record[1:]

    def split(self, width: int) -> bool:
        """Put the line of the record back as several lines and return True if it is whole records of one width.

        Else a return may be one within a cell, whose text would become that of two rows.

        Args:
            width: number of cells of the header; 0 for the header itself.
        """
        pieces = _RETURN.split(self.record[0])
        if len(pieces) == 1 or len(self.record) > 1:
            return False
        texts = [piece.decode(errors="surrogateescape") for piece in pieces]
        try:
            widths = {len(cells) for cells in csv.reader(texts, delimiter=self._delimiter, strict=True)}
        except csv.Error:  # such as a quote that is not closed, so that the end of the record is uncertain
            return False
        if len(widths) > 1 or (width and widths != {width}):
            return False
        self._returned += reversed(pieces)
        return True

    def judge(self, cells: list[str] | None, width: int) -> str | None:
        """Return the reason why the record is unusable, or None."""
        if len(self.record[0]) > MAX_ROW_BYTES:
            return "row_too_long"
        is_whole = cells is not None and (len(cells) == width or self._is_padded(cells, width))
        if self._unclosed or not is_whole or not self._is_sound:
            return "unbalanced_quote" if self._unclosed or len(self.record) > 1 else "ragged_row"
        return "invalid_utf8" if self._damaged else None

    def _is_padded(self, cells: list[str], width: int) -> bool:
        return len(cells) == self._padded_width and not any(cells[width:])

    @property
    def _is_sound(self) -> bool:
        """Return True if lines joined by quotes follow the rules of CSV, so that no stray quote joined them."""
        if len(self.record) == 1:
            return True
        texts = [line.decode(errors="surrogateescape") for line in self.record]
        try:
            return len(list(csv.reader(texts, delimiter=self._delimiter, strict=True))) == 1
        except csv.Error:
            return False

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = self._returned.pop() if self._returned else next(self._lines, None)
        if line is None:
            self._unclosed = bool(self.record)  # csv.reader reads a further line only inside quotes
            raise StopIteration
        self.record.append(line)
        self._size += len(line)
        if self._size > (self._limit if len(self.record) > 1 else MAX_ROW_BYTES):
            raise _TooLongError
        try:
            return line.decode()
        except UnicodeDecodeError:
            self._damaged = True
            return line.decode(errors="surrogateescape")
