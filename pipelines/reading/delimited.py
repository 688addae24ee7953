"""CSV and TSV with quoting as in RFC 4180: a quoted cell may hold delimiters, line ends and doubled quotes.

records of a file -> read_delimited -> batches
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pipelines.reading.batches import BATCH_BYTES, BATCH_ROWS, Batch, Reject, assemble, raw_payload, texts_of
from pipelines.reading.columns import Column, locate_columns
from pipelines.reading.lines import physical_lines
from pipelines.reading.records import Record, records
from pipelines.reading.sources import Source
from schemas.errors import QprError

DELIMITERS: Final = {"csv": ",", "tsv": "\t"}


def read_delimited(source: Source, columns: Sequence[Column], names: Mapping[str, str]) -> Iterator[Batch]:
    """Yield the rows of a file whose first row names the columns, in any order.

    Rejected are rows whose number of cells is not the header's (``ragged_row``), lines that open a quote which nothing
    closes (``unbalanced_quote``; reading goes on at the next line), and rows that are ``invalid_utf8``, hold a
    ``nul_byte`` or are ``row_too_long``.
    """
    rows = _open(source)
    header = _header(rows, source)
    located = locate_columns(columns, names, header, url=source.url)
    indices = {name: header.index(theirs) for name, theirs in located.items()}
    gathered = _Gathered(indices)
    for row in rows:
        gathered.add(row)
        if gathered.is_full:
            yield gathered.batch(columns)
            gathered = _Gathered(indices)
    yield gathered.batch(columns)


def check_delimited(source: Source, columns: Sequence[Column], names: Mapping[str, str], *, mappable: bool) -> None:
    """Raise `QprError` unless the header of a file has the wanted columns."""
    locate_columns(columns, names, _header(_open(source), source), url=source.url, mappable=mappable)


def _open(source: Source) -> Iterator[Record]:
    lines = itertools.chain.from_iterable(physical_lines(source))
    return records(lines, delimiter=DELIMITERS[source.format])


def _header(rows: Iterator[Record], source: Source) -> list[str]:
    first = next(rows, None)
    if first is None or first.reason:
        cause = f"its first row cannot be read ({first.reason})" if first else "there is no row in it"
        if first and b"\r" in first.raw.rstrip(b"\r\n"):
            raise QprError(f"{source.url}: its lines end in carriage returns. Convert it, such as with tr '\\r' '\\n'")
        raise QprError(f"{source.url}: {cause}; the first row must name the columns")
    header = [cell.strip() for cell in first.cells]
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if twice:
        raise QprError(f"{source.url}: two columns are called {twice[0]!r}. Rename one")
    return header


class _Gathered:
    """Rows on their way to a batch, kept by column: a list a row would make the garbage collector work."""

    def __init__(self, indices: Mapping[str, int]) -> None:
        self.cells: dict[str, list[str]] = {name: [] for name in indices}
        self.raws: list[bytes] = []
        self.rejects: list[Reject] = []
        self.held = 0
        self._adders = [(self.cells[name].append, index) for name, index in indices.items()]

    @property
    def is_full(self) -> bool:
        return self.held >= BATCH_BYTES or len(self.raws) + len(self.rejects) >= BATCH_ROWS

    def add(self, row: Record) -> None:
        cells, raw, reason = row
        self.held += len(raw)
        if reason:
            self.rejects.append(Reject(reason, raw_payload(raw)))
            return
        self.raws.append(raw)
        for add, index in self._adders:
            add(cells[index])

    def batch(self, columns: Sequence[Column]) -> Batch:
        arrays = {name: texts_of(cells)[0] for name, cells in self.cells.items()}
        payload = functools.partial(_payload, self.raws)
        return assemble(columns, arrays, count=len(self.raws), flaws={}, payload=payload, rejects=self.rejects)


def _payload(raws: Sequence[bytes], position: int) -> str:
    return raw_payload(raws[position])
