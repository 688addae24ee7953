"""CSV and TSV with quoting as in RFC 4180: a quoted cell may hold delimiters, line ends and doubled quotes.

`pipelines.reading.dialect` finds the delimiter in the file.

records of a file -> read_delimited -> batches
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pipelines.privacy.patterns import replace_personal
from pipelines.reading.batches import BATCH_BYTES, BATCH_ROWS, Batch, Reject, assemble, raw_payload, texts_of
from pipelines.reading.csv_records import Record
from pipelines.reading.dialect import CANDIDATES, DELIMITERS, ExpectedColumns, open_rows
from pipelines.reading.headers.columns import Column, Header, file_names, locate_columns
from pipelines.reading.headers.suggestions import SAMPLE_ROWS
from pipelines.reading.headers.title_rows import explain_header, find_header
from pipelines.reading.jsonl import is_object
from pipelines.reading.sources import Source
from pipelines.reading.values.conventions import Conventions
from pipelines.summary.value_notes import ENCODING_HINT
from schemas.errors import QprError, WrongColumnsError

_SHOWN: Final = 100
"""Maximum characters of a first row in a message."""

_NAMES: Final = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "vertical bars"}


def read_delimited(source: Source, columns: Sequence[Column], names: Mapping[str, str]) -> Iterator[Batch]:
    """Yield the rows of a file whose first row names the columns, in any order.

    Rejected are rows with more or fewer cells than the header (``ragged_row``), lines with a quote that is never closed
    (``unbalanced_quote``; reading continues at the next line), the header once more (``header_row``, as in files that
    were joined), and rows that are ``invalid_utf8``, hold a ``nul_byte``
    or are ``row_too_long``.

    Raises:
        QprError: the file is missing or damaged, or lacks a column.
    """
    rows, delimiter = open_rows(source, ExpectedColumns(*file_names(columns, names)))
    located, header = _locate(rows, source, columns, names)
    indices = {name: header.index(theirs) for name, theirs in located.items()}
    same_dialect = dataclasses.replace(source, delimiter=delimiter)  # skips a second search for it
    conventions = Conventions(lambda some: read_delimited(same_dialect, some, names))
    gathered = _Gathered(indices)
    for row in rows:
        gathered.add(row._replace(reason="header_row") if _is_header(row.cells, header) else row)
        if gathered.is_full:
            yield gathered.batch(columns, conventions)
            gathered = _Gathered(indices)
    yield gathered.batch(columns, conventions)


def check_delimited(source: Source, columns: Sequence[Column], names: Mapping[str, str], *, mappable: bool) -> Header:
    """Return the header of a file, and a note on its delimiter; raise `QprError` without a required column."""
    rows, delimiter = open_rows(source, ExpectedColumns(*file_names(columns, names)))
    _, header = _locate(rows, source, columns, names, mappable=mappable)
    expected = source.delimiter or DELIMITERS[source.format]
    other = [f"the cells are separated by {_NAMES.get(delimiter, repr(delimiter))}"]
    return Header(header, [] if delimiter == expected else other)


def delimited_names(source: Source) -> list[str]:
    """Return the names in the header of a file."""
    expected = ExpectedColumns(optional=("question", "text", "answer", "answer_id", "cluster_id", "events"))
    return _header(open_rows(source, expected).records, source)


def _locate(
    rows: Iterator[Record],
    source: Source,
    columns: Sequence[Column],
    names: Mapping[str, str],
    *,
    mappable: bool = True,
) -> tuple[dict[str, str], list[str]]:
    """Return the file's name of each present column by our name, and the whole header."""
    header = _header(rows, source)

    following: list[Record] = []

    def sample() -> dict[str, list[str]]:
        following.extend(itertools.islice(rows, SAMPLE_ROWS))
        cells = [row.cells for row in following if not row.reason]
        return {name: [of[i] for of in cells if i < len(of) and of[i].strip()] for i, name in enumerate(header)}

    try:
        located = locate_columns(columns, names, header, url=source.url, sample=sample, mappable=mappable)
    except WrongColumnsError as error:
        if not source.delimiter or len(header) > 1:
            _explain_title(source, header, following, file_names(columns, names)[0], error)
            raise
        shown = replace_personal(header[0])[0][:_SHOWN]
        cause = f"--delimiter {source.delimiter!r} separates no cells of the first row, {shown!r}"
        raise WrongColumnsError(f"{source.url}: {cause}. Leave it out, or give another one") from error
    repeated = [name for name in located.values() if header.count(name) > 1]
    if repeated:
        raise WrongColumnsError(f"{source.url}: two columns have the name {repeated[0]!r}. Rename one")
    return located, header


def _explain_title(
    source: Source, header: Sequence[str], rows: Sequence[Record], names: Sequence[str], error: WrongColumnsError
) -> None:
    """Raise an error that names the header if it is below the first row."""
    delimiters = [source.delimiter] if source.delimiter else CANDIDATES
    absent = [name for name in names if name not in header]
    text = b"".join(row.raw for row in rows)
    row = find_header(header, text, names=names, delimiters=delimiters)
    if row is not None:
        first = " ".join(filter(None, header))
        raise WrongColumnsError(explain_header(source.url, row, names=absent, first=first)) from error


def _header(rows: Iterator[Record], source: Source) -> list[str]:
    first = next(rows, None)
    if first is None:
        raise QprError(f"{source.url}: the file has no row. Write a first row with the names of the columns")
    if first.raw.lstrip().startswith(b"{") and is_object(first.raw):
        raise QprError(f"{source.url}: holds JSON objects, one per line. Rename it to end in .jsonl")
    if first.reason == "invalid_utf8":
        raise QprError(f"{source.url}: its first row is not UTF-8. {ENCODING_HINT}")
    if first.reason and b"\r" in first.raw.rstrip(b"\r\n"):  # line feeds occur too, so the end of a row is uncertain
        raise QprError(f"{source.url}: its lines end in carriage returns. Convert it, for example with tr '\\r' '\\n'")
    if first.reason:
        cause = f"its first row cannot be read ({first.reason})"
        raise QprError(f"{source.url}: {cause}. Write a first row with the names of the columns")
    return [cell.strip() for cell in first.cells]


def _is_header(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Return whether a row is the header once more, also behind the byte order mark of a file that was appended."""
    first = cells[0].removeprefix("\ufeff").strip() if cells else None
    if first not in (header[0], f'"{header[0]}"'):  # quotes behind the mark are no quotes of CSV
        return False
    return [cell.strip() for cell in cells[1:]] == header[1:]


class _Gathered:
    """Rows of the next batch, by column: one list per row would be slow to collect as garbage."""

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

    def batch(self, columns: Sequence[Column], conventions: Conventions) -> Batch:
        arrays = {name: texts_of(cells)[0] for name, cells in self.cells.items()}
        return assemble(
            columns,
            arrays,
            count=len(self.raws),
            flaws={},
            payload=lambda position: raw_payload(self.raws[position]),
            conventions=conventions,
            rejects=self.rejects,
        )
