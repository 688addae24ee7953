"""Rejected rows: stage, reason, score and a JSON payload.

rows that fail -> turn_away -> TURNED_AWAY
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import TURNED_AWAY
from schemas.text_arrays import hash64_all

MAX_PAYLOAD_CHARACTERS = 10_000


def turn_away(
    payloads: pa.Array,
    *,
    stage: str,
    reasons: pa.Array | str,
    scores: pa.Array | None = None,
    shard_keys: pa.Array | None = None,
) -> pa.Table:
    """Return a TURNED_AWAY row for each payload.

    Args:
        payloads: JSON or raw text; cut to `MAX_PAYLOAD_CHARACTERS`.
        stage: the step that turns them away.
        reasons: one for each row, or one for all.
        scores: the deciding figures, float64.
        shard_keys: hashes that spread the rows over files; those of the payloads by default.
    """
    cut = pc.utf8_slice_codeunits(payloads, 0, MAX_PAYLOAD_CHARACTERS)
    rows = len(cut)
    columns = {
        "shard_key": hash64_all(cut) if shard_keys is None else shard_keys,
        "stage": pa.repeat(stage, rows),
        "reason": pa.repeat(reasons, rows) if isinstance(reasons, str) else reasons,
        "score": pa.nulls(rows, pa.float64()) if scores is None else scores,
        "payload": cut,
    }
    return pa.table(columns).cast(TURNED_AWAY)


def turn_away_unreadable(rejected: pa.Table) -> pa.Table:
    """Return TURNED_AWAY rows for what a reader rejected."""
    flat = rejected.combine_chunks()
    return turn_away(flat["payload"].combine_chunks(), stage="read", reasons=flat["reason"].combine_chunks())


def json_objects(columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Array:
    """Return one JSON object a row; nulls are left out, strings and integers are written as such."""
    pieces: list[pa.Array] = []
    for name, values in columns.items():
        flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        written = json_strings(flat) if pa.types.is_string(flat.type) else flat.cast(pa.string())
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


def turn_members_away(members: pa.Table, *, stage: str, reason: str, scores: pa.Array | None = None) -> pa.Table:
    """Return a TURNED_AWAY row for each member, which tells question, answer, events, cluster and split."""
    if not len(members):
        return TURNED_AWAY.empty_table()
    told = {
        "question": members["text"],
        "answer": members["answer"],
        "events": members["events"],
        "cluster_id": members["cluster_id"],  # a number until the schema version changes: digests count these bytes
        "split": members["split"],
    }
    payloads = json_objects(told)
    keys = members["question_id"].combine_chunks()
    return turn_away(payloads, stage=stage, reasons=reason, scores=scores, shard_keys=keys)
