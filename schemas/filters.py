"""Columns that filter the rows of an index: values that every search names, and the end of an answer's validity.

names of columns -> FilterColumns -> fields of an id table; keys, values -> row_ids -> ids of rows; texts -> read_ends;
path of a dataset -> values_of_folders
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
import urllib.parse
from collections.abc import Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables import INDEX_ROWS
from schemas.text import hash64, key
from schemas.text_arrays import hash64_all

VALID_UNTIL: Final = pa.field("valid_until", pa.timestamp("us", tz="UTC"))
"""End of an answer's validity in an id table: from this moment on it is not given; null: it has no end."""

MAX_VALUE_CHARACTERS: Final = 200
"""Maximum characters of a value; ids of tenants have 36, tags of languages at most 35."""

_RESERVED: Final = {
    *("question", *INDEX_ROWS.names, VALID_UNTIL.name, "vector"),
    *("q", "k", "mode", "filters"),
}
"""Other columns of an index, and parameters of a search."""

_NAME: Final = re.compile(r"[^\W\d][\w.-]{0,63}")
"""Names of columns, which are names of parameters of a search too: without spaces and signs such as ``=``."""

_END: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
"""Dates, and times with or without a zone, in ISO 8601; Arrow writes a space for the T, pandas nanoseconds."""

_SEPARATOR: Final = "\x1f"
"""A key cannot contain it, since it is white space of `str.split`."""


@dataclasses.dataclass(frozen=True)
class FilterColumns:
    """Columns of question files that filter searches.

    Attributes:
        vary_by: names of the columns whose values a search has to name, ascending.
        valid_until: name of the column with the end of validity in the files; None: answers have no end.
    """

    vary_by: tuple[str, ...] = ()
    valid_until: str | None = None

    def __bool__(self) -> bool:
        return bool(self.vary_by) or self.valid_until is not None

    @property
    def fields(self) -> list[pa.Field]:
        """Return the fields that an id table has for them, after all others."""
        values = [pa.field(name, pa.string(), nullable=False) for name in self.vary_by]
        return [VALID_UNTIL, *values] if self.valid_until is not None else values


NO_FILTERS: Final = FilterColumns()
"""Columns of an index without any."""


def checked_vary_by(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns in ascending order.

    Raises:
        ValueError: one is given twice, is no name, or has another meaning.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:60]!r} is no name of letters, digits, '_', '-' and '.' that begins with a letter")
        if name in _RESERVED:
            raise ValueError(f"{name} has another meaning in an index. Rename the column in the files")
    if len(set(names)) < len(names):
        raise ValueError("a column is given twice")
    return tuple(sorted(names))


def values_of_folders(path: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the values of columns that the folders of a path name, such as ``tenant=acme/locale=de``.

    Characters may be written as in a URL (``%2F``); of two folders of one column the inner one counts.

    Args:
        path: of a folder, absolute, with ``/`` between folders.
        names: of the columns.

    Raises:
        ValueError: no folder names one of them, or its value is blank or over `MAX_VALUE_CHARACTERS` characters.
    """
    written = dict(folder.split("=", 1) for folder in path.split("/") if "=" in folder)
    values = {name: urllib.parse.unquote(value).strip() for name, value in written.items() if name in names}
    for name in names:
        if name not in values:
            raise ValueError(f"no folder of its path is named {name}=VALUE")
        if not 0 < len(values[name]) <= MAX_VALUE_CHARACTERS:
            raise ValueError(f"the value of {name} in its path has 0 or over {MAX_VALUE_CHARACTERS} characters")
    return tuple(values[name] for name in names)


def row_suffix(values: Sequence[str]) -> str:
    """Return the text that follows a question's key in the hash of its row; empty without values."""
    return _SEPARATOR + json.dumps([*values], ensure_ascii=False) if values else ""


def row_id(question: str, suffix: str) -> int:
    """Return the id of the row of a question; without a suffix it is that of the question."""
    return hash64(key(question) + suffix)


def row_ids(keys: pa.Array, values: Sequence[pa.Array]) -> pa.Array:
    """Return the id of each row by its key and its values, none of them null; the same as `row_id`."""
    if not values:
        return hash64_all(keys)
    codes = [column.dictionary_encode() for column in values]
    written = [[json.dumps(value, ensure_ascii=False) for value in code.dictionary.to_pylist()] for code in codes]
    literals = [pa.array(texts, pa.string()).take(code.indices) for texts, code in zip(written, codes, strict=True)]
    listed = pc.binary_join_element_wise(*literals, ", ")
    return hash64_all(pc.binary_join_element_wise(keys, pc.binary_join_element_wise("[", listed, "]", ""), _SEPARATOR))


class Ends(NamedTuple):
    """Ends of validity as files write them.

    Attributes:
        times: UTC; null where there is none, or none that can be read.
        faults: reason to reject the row, or null.
    """

    times: pa.Array
    faults: pa.Array


def read_ends(texts: pa.Array) -> Ends:
    """Return the ends of validity in texts; null and blank ones have no end.

    A date alone ends with its day in UTC, so its time is the following midnight.
    """
    codes = texts.dictionary_encode()
    read = [(None, None) if text is None else _read_end(text.strip()) for text in codes.dictionary.to_pylist()]
    times = pa.array([end for end, _ in read], VALID_UNTIL.type)
    faults = pa.array([fault for _, fault in read], pa.string())
    return Ends(times.take(codes.indices), faults.take(codes.indices))


def _read_end(text: str) -> tuple[datetime.datetime | None, str | None]:
    if not text:
        return None, None
    match = _END.fullmatch(text)
    if match is None:
        return None, "unreadable_valid_until"
    date, time, zone = match.groups()
    try:
        if time is None:
            day = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.UTC)
            return day + datetime.timedelta(days=1), None
        moment = datetime.datetime.fromisoformat(f"{date}T{time[:15]}{(zone or '').upper()}")
        return (None, "valid_until_without_zone") if zone is None else (moment.astimezone(datetime.UTC), None)
    except (ValueError, OverflowError):
        return None, "unreadable_valid_until"
