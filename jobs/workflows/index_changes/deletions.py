"""Questions to delete from an index, read from files with their ids or their texts.

files -> read_deletions -> Deletions (ids, number of rows)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reading.headers.columns import Column
from pipelines.reading.index_inputs import QUESTION_NAMES
from pipelines.reading.index_questions import whole_numbers
from pipelines.reading.reader import check_header, column_names, read
from pipelines.reading.sources import Source
from schemas.arrays import Int64s
from schemas.errors import QprError
from schemas.filters import row_ids
from schemas.quantities import counted
from schemas.text_arrays import key_all

ID: Final = "question_id"


class Deletions(NamedTuple):
    """Questions to delete.

    Attributes:
        ids: distinct, ascending.
        rows: number of rows of all files.
        unreadable: rows without an id or a text.
    """

    ids: Int64s
    rows: int
    unreadable: int


def read_deletions(sources: Sequence[Source], names: Mapping[str, str], vary_by: Sequence[str]) -> Deletions:
    """Return the questions to delete; a file is read by its ids if it has a column of them, else by its questions.

    Args:
        sources: the files.
        names: our name of a column -> the files', where they differ.
        vary_by: columns of the index whose values a file of questions has to name too.

    Raises:
        QprError: a file cannot be read, has no such column, or has rows of which none is readable.
    """
    ids_of_files, rows = [np.empty(0, np.int64)], 0
    for source in sources:
        ids, rows_of_file = _ids_in(source, *_columns(source, names, vary_by))
        if rows_of_file and not len(ids):
            every = f"none of {counted(rows_of_file, 'row')} has a question, or a 64-bit integer as {ID}"
            raise QprError(f"{source.url}: {every}, so nothing can be deleted by it. Correct the file")
        ids_of_files.append(ids)
        rows += rows_of_file
    together = np.concatenate(ids_of_files)
    return Deletions(np.unique(together), rows, rows - len(together))


def _ids_in(source: Source, columns: Sequence[Column], theirs: Mapping[str, str]) -> tuple[Int64s, int]:
    """Return the ids in a file, and its number of rows."""
    ids, rows = [np.empty(0, np.int64)], 0
    for batch in read(source, columns, theirs):
        values, *others = (batch.rows[column.name].combine_chunks() for column in columns)
        by_id = columns[0].name == ID
        ids.append((whole_numbers(values).drop_null() if by_id else _ids_of(values, others)).to_numpy())
        rows += len(values) + len(batch.rejects)
    return np.concatenate(ids), rows


def _columns(source: Source, names: Mapping[str, str], vary_by: Sequence[str]) -> tuple[list[Column], dict[str, str]]:
    """Return the columns to read, the first with ids or questions, and their names in the file."""
    available = column_names(source)
    candidates = (ID, *QUESTION_NAMES) if "question" not in names else (ID, names["question"])
    theirs = next((name for name in candidates if name in available), None)
    if theirs is None:
        columns = f"{', '.join(candidates[:-1])} or {candidates[-1]}"
        listed = ", ".join(available)[:200] or "none"
        raise QprError(f"{source.url}: has no column {columns}; there are {listed}. Add --column question=NAME")
    first = Column(ID if theirs == ID else "question", pa.string())
    others = [] if theirs == ID else [Column(name, pa.string()) for name in vary_by]
    if lacking := next((column.name for column in others if column.name not in available), None):
        raise QprError(f"{source.url}: has no column {lacking}, by which the index varies. Add it, or use {ID}")
    check_header(source, [first, *others], {first.name: theirs})
    return [first, *others], {first.name: theirs}


def _ids_of(texts: pa.Array, values: Sequence[pa.Array]) -> pa.Array:
    """Return the ids of the rows that have a question and a value of each column."""
    table = pa.table([texts, *map(pc.utf8_trim_whitespace, values)], names=[*map(str, range(len(values) + 1))])
    keys, *others = (column.combine_chunks() for column in table.drop_null().columns)
    keys = key_all(keys)
    with_word = pc.not_equal(keys, "")
    return row_ids(keys.filter(with_word), [column.filter(with_word) for column in others])
