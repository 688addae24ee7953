"""Questions to delete from an index, read from files with their ids or their texts.

files -> read_deletions -> Deletions (ids, number of rows)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reading.headers.columns import Column
from pipelines.reading.index_inputs import QUESTION_NAMES
from pipelines.reading.index_questions import whole_numbers
from pipelines.reading.reader import check_header, column_names, read
from pipelines.reading.sources import Source
from schemas.errors import QprError
from schemas.text_arrays import hash64_all, key_all

ID: Final = "question_id"


class Deletions(NamedTuple):
    """Questions to delete.

    Attributes:
        ids: distinct, ascending.
        rows: number of rows of all files.
        unreadable: rows without an id or a text.
    """

    ids: npt.NDArray[np.int64]
    rows: int
    unreadable: int


def read_deletions(sources: Sequence[Source], names: Mapping[str, str]) -> Deletions:
    """Return the questions to delete; a file is read by its ids if it has a column of them, else by its questions.

    Args:
        sources: the files.
        names: our name of a column -> the files', where they differ.

    Raises:
        QprError: a file cannot be read, or has no such column.
    """
    found, rows = [np.empty(0, np.int64)], 0
    for source in sources:
        column, theirs = _column(source, names)
        for batch in read(source, [column], {column.name: theirs}):
            values = batch.rows[column.name].combine_chunks()
            found.append((whole_numbers(values).drop_null() if column.name == ID else _ids_of(values)).to_numpy())
            rows += len(values) + len(batch.rejects)
    together = np.concatenate(found)
    return Deletions(np.unique(together), rows, rows - len(together))


def _column(source: Source, names: Mapping[str, str]) -> tuple[Column, str]:
    """Return the column to read and its name in the file."""
    available = column_names(source)
    wanted = (ID, *QUESTION_NAMES) if "question" not in names else (ID, names["question"])
    theirs = next((name for name in wanted if name in available), None)
    if theirs is None:
        columns = f"{', '.join(wanted[:-1])} or {wanted[-1]}"
        raise QprError(f"{source.url}: has no column {columns}; there are {', '.join(available)[:200]}")
    column = Column(ID if theirs == ID else "question", pa.string())
    check_header(source, [column], {column.name: theirs})
    return column, theirs


def _ids_of(texts: pa.Array) -> pa.Array:
    """Return the ids of those texts that have one."""
    keys = key_all(texts.drop_null())
    return hash64_all(keys.filter(pc.not_equal(keys, "")))
