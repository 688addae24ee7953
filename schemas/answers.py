"""Identity of answers: questions with one key have the same answer.

id and text of an answer -> answer_key, answer_keys
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from schemas.text import fold, hash64
from schemas.text_arrays import encode, fold_all, hash64_all


def answer_key(answer_id: str | None, answer: str | None) -> str | None:
    """Return the id of an answer: that of the indexed table, else the hash of its text; None without an answer."""
    if answer_id is not None:
        return answer_id
    return None if answer is None else str(hash64(fold(answer)))


def answer_keys(answer_ids: pa.Array | pa.ChunkedArray, answers: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return `answer_key` of every row; null without an answer."""
    texts = encode(answers)
    hashes = hash64_all(fold_all(texts.dictionary)).cast(pa.string()).take(texts.indices)
    ids = answer_ids.combine_chunks() if isinstance(answer_ids, pa.ChunkedArray) else answer_ids
    return pc.coalesce(ids, hashes)
