"""Answers of a served index by their ids.

index, id -> has_answer -> whether a question has this answer
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables import ANSWER_ID
from schemas.text_arrays import answer_keys

if TYPE_CHECKING:
    from model.index.index import Index

_ROWS = 65_536
"""Rows read at a time."""


def has_answer(index: Index, answer_id: str) -> bool:
    """Return whether a question of an index has an answer, whatever its values and end.

    All rows are read, in .1 CPU s a million, and texts hashed where answers have no id, in a second a million.
    """
    return any(_is_in(table[ANSWER_ID.name], table["answer"], answer_id) for table in index.tables(_ROWS))


def _is_in(ids: pa.ChunkedArray, answers: pa.ChunkedArray, answer_id: str) -> bool:
    unnamed = pc.and_(pc.is_null(ids), pc.is_valid(answers))
    keys = (ids, answer_keys(ids.filter(unnamed), answers.filter(unnamed)))
    return any(pc.any(pc.equal(part, answer_id)).as_py() for part in keys)
