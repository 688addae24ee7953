"""Rejected rows: stage, reason, score and a JSON payload.

rows or members that fail a step -> reject_rows, reject_members, reject -> REJECTS
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import REJECTS
from schemas.text_arrays import ENCODED, encode, hash64_all, key_all, parts_of_texts, with_used_texts

TAG: Final = "rejects"
"""Name of the tagged output of a step that carries its REJECTS."""

ROWS: Final = pa.field("rows", pa.int64())
"""Further column of REJECTS: number of equal rows that a row stands for; 1 in a table without it.

Producers: `privacy.k_users` and `writing.rejected_table.count_equal`. Consumer: `writing.rejected_table.WriteRejects`.
"""

_AT_ONCE: Final = 2**17
_BYTES_AT_ONCE: Final = 2**24
"""Maximum numbers of rows and of bytes that are written as JSON at a time, which takes several times their memory."""

MAX_PAYLOAD_CHARACTERS: Final = 10_000
"""Maximum number of characters of a payload of `reject`, or of each text in the payload of a row or member."""

MAX_RAW_CHARACTERS: Final = 1_000
"""Maximum number of characters of a row that cannot be read, of which the beginning is kept."""


def reject(
    payloads: pa.Array | pa.ChunkedArray,
    *,
    stage: str,
    reasons: pa.Array | str,
    scores: pa.Array | None = None,
    shard_keys: pa.Array | None = None,
) -> pa.Table:
    """Return a REJECTS row for each payload.

    Args:
        payloads: JSON or raw text; cut to `MAX_PAYLOAD_CHARACTERS`.
        stage: the step that rejects them.
        reasons: one for each row, or one for all.
        scores: the deciding figures, float64.
        shard_keys: hashes that spread the rows over files; those of the payloads by default.
    """
    if not len(payloads):
        return REJECTS.empty_table()
    cut = pc.utf8_slice_codeunits(payloads, 0, MAX_PAYLOAD_CHARACTERS)
    return _rejects(cut, stage, reasons, scores, hash64_all(cut) if shard_keys is None else shard_keys)


def reject_rows(rows: pa.Table, reasons: pa.Array) -> pa.Table:
    """Return a REJECTS row of the stage ``validate`` for each input row with a reason; null means that the row is kept.

    A payload is always a whole JSON object: long texts are cut instead, and then the hash of the whole text's key is
    added. So the hash of a user stays, and `pipelines.privacy.erase` finds a question that is too long.

    Args:
        rows: of any schema; the payload contains all columns.
        reasons: (rows,) strings or nulls.
    """
    rejected = rows.filter(pc.is_valid(reasons))
    if not len(rejected):
        return REJECTS.empty_table()
    payloads = json_objects(_with_cut_texts(rejected))
    return _rejects(payloads, "validate", reasons.drop_null(), None, hash64_all(payloads))


def _with_cut_texts(rows: pa.Table) -> pa.Table:
    columns: dict[str, pa.Array] = {}
    for name in rows.column_names:
        columns[name] = rows[name].combine_chunks()
        if columns[name].type in (pa.string(), ENCODED):
            columns[name], hashes = _cut(columns[name], lambda texts: hash64_all(key_all(texts)))
            if hashes.null_count < len(hashes):
                columns[f"{name}_key_hash"] = hashes
    return pa.table(columns)


def reject_members(members: pa.Table, *, stage: str, reason: str, scores: pa.Array | None = None) -> pa.Table:
    """Return a REJECTS row for each member; its payload contains question, answer, events, cluster and split.

    A payload is always a whole JSON object: the answer is cut instead, and then its hash is added. The question stays
    whole, as `pipelines.privacy.erase` compares it.
    """
    if not len(members):
        return REJECTS.empty_table()
    answers, hashes = cut_answers(encode(members["answer"]))
    columns = {
        "question": members["text"],
        "answer": answers,
        "answer_hash": hashes,
        "events": members["events"],
        # the answer where there is no cluster yet, a number and not a string: content digests cover these bytes
        # until the schema version changes
        "cluster_id": pc.coalesce(members["cluster_id"], members["answer_id"]),
        "split": members["split"],
    }
    keys = members["question_id"].combine_chunks()
    return _rejects(json_objects(pa.table(columns)), stage, reason, scores, keys)


def cut_answers(answers: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return (N,) answers of at most `MAX_PAYLOAD_CHARACTERS`, and (N,) hashes of those that were longer, else null.

    Both together name an answer, so rejected questions can be matched to the clusters of a long answer.

    Args:
        answers: (N,) strings or nulls; of a dictionary array the answers are one too, whose values may be equal.
    """
    return _cut(answers, hash64_all)


def _cut(texts: pa.Array, hash_all: Callable[[pa.Array], pa.Array]) -> tuple[pa.Array, pa.Array]:
    """Return (N,) texts of at most `MAX_PAYLOAD_CHARACTERS`, and (N,) hashes of those that were longer, else null."""
    if pa.types.is_dictionary(texts.type):
        cut, hashes = _cut(texts.dictionary, hash_all)
        return pa.DictionaryArray.from_arrays(texts.indices, cut), hashes.take(texts.indices)
    is_long = pc.fill_null(pc.greater(pc.utf8_length(texts), MAX_PAYLOAD_CHARACTERS), False)
    hashes = pa.nulls(len(texts), pa.string())
    if not pc.any(is_long).as_py():
        return texts, hashes
    coded = encode(texts.filter(is_long))
    hashed = hash_all(coded.dictionary).cast(pa.string()).take(coded.indices)
    cut = pc.utf8_slice_codeunits(texts, 0, MAX_PAYLOAD_CHARACTERS)
    return cut, pc.replace_with_mask(hashes, is_long, hashed)


def _rejects(
    payloads: pa.Array | pa.ChunkedArray,
    stage: str,
    reasons: pa.Array | str,
    scores: pa.Array | None,
    shard_keys: pa.Array,
) -> pa.Table:
    rows = len(payloads)
    columns = {
        "shard_key": shard_keys,
        "stage": pa.repeat(stage, rows),
        "reason": pa.repeat(reasons, rows) if isinstance(reasons, str) else reasons,
        "score": pa.nulls(rows, pa.float64()) if scores is None else scores,
        "payload": payloads,
    }
    return pa.table(columns).cast(REJECTS)


def json_objects(rows: pa.Table) -> pa.ChunkedArray:
    """Return one JSON object a row: without nulls, numbers as such, texts and times as strings."""
    parts = parts_of_texts(rows, rows=_AT_ONCE, size=_BYTES_AT_ONCE)
    return pa.chunked_array(map(_json_objects, parts), pa.string())


def _json_objects(rows: pa.Table) -> pa.Array:
    pieces: list[pa.Array] = []
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            coded = with_used_texts(column)
            written = json_strings(coded.dictionary).take(coded.indices)
        else:
            texts = column.combine_chunks().cast(pa.string())
            is_text = pa.types.is_string(column.type) or pa.types.is_timestamp(column.type)
            written = json_strings(texts) if is_text else texts
        pieces.append(pc.fill_null(pc.binary_join_element_wise(f", {json.dumps(name)}: ", written, ""), ""))
    # not null_handling="skip": Arrow 25 then leaves out the rows in which all values are null
    inside = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*pieces, ""), len(", "))
    return pc.binary_join_element_wise("{", inside, "}", "")


def json_strings(texts: pa.Array) -> pa.Array:
    """Return every string as a JSON string literal; null stays null."""
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    awkward = pc.fill_null(pc.match_substring_regex(texts, r'["\\\x00-\x1f]'), False)
    if not pc.any(awkward).as_py():
        return quoted
    escaped = [json.dumps(text, ensure_ascii=False) for text in texts.filter(awkward).to_pylist()]
    return pc.replace_with_mask(quoted, awkward, pa.array(escaped, pa.string()))
