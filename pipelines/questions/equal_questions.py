"""Rows of equal questions merged into one, with the most frequent answer; other answers are rejected.

INDEX_ROWS of a shard -> merge_equal -> Merged (one row a question, rows with another answer)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import REJECTS
from pipelines.writing.rejects import json_objects, reject
from schemas.tables import INDEX_ROWS
from schemas.text_arrays import fold_all


class Merged(NamedTuple):
    """One row a question, ascending by id, and the rows whose answer is not the one kept, as REJECTS."""

    rows: pa.Table
    rejects: pa.Table


def merge_equal(table: pa.Table) -> Merged:
    """Return one row a question with the answer that has most events.

    Answers are equal if their ids and their folded texts are. A row without ``events`` counts as one event. Of answers
    with equally many events the smallest text wins, then the smallest id; a row without an answer agrees with any.
    The row kept has the smallest value of each column among the rows that agree, and their sum of ``events``.

    Args:
        table: INDEX_ROWS and columns that filter searches, every row of each of its questions.
    """
    ordered = table.sort_by("question_id").combine_chunks()
    ids = ordered["question_id"].to_numpy()
    starts = np.diff(ids, prepend=~ids[:1]) != 0
    repeated = ~(starts & np.append(starts[1:], True))
    if not repeated.any():
        return Merged(ordered, REJECTS.empty_table())
    agreeing, others = _settled(ordered.filter(pa.array(repeated)))
    minima = [(name, "min") for name in table.column_names if name not in ("question_id", "events")]
    merged = agreeing.group_by("question_id", use_threads=False).aggregate([*minima, ("events", "sum")])
    names = {f"{name}_min": name for name, _ in minima} | {"events_sum": "events"}
    merged = merged.rename_columns([names.get(name, name) for name in merged.column_names])
    single = ordered.filter(pa.array(~repeated))
    merged = merged.select(table.column_names).cast(table.schema)
    rows = pa.concat_tables([single, merged]).sort_by("question_id").combine_chunks()
    written, keys = json_objects(payloads(others)), others["question_id"]
    return Merged(rows, reject(written, stage="merge", reasons="other_answer", shard_keys=keys))


def _settled(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the rows with the answer that wins or none, and the rows with another one."""
    folded = pc.fill_null(fold_all(rows["answer"].combine_chunks()), "")
    has_answer = pc.or_(pc.is_valid(rows["answer"]), pc.is_valid(rows["answer_id"]))
    votes = pa.table(
        {
            "question_id": rows["question_id"],
            "folded": folded,
            "answer_id": pc.fill_null(rows["answer_id"], ""),
            "answer": rows["answer"],
            "events": pc.fill_null(rows["events"], 1),
        }
    )
    named = ["question_id", "folded", "answer_id"]
    counted = (
        votes.filter(has_answer).group_by(named, use_threads=False).aggregate([("events", "sum"), ("answer", "min")])
    )
    order = [
        ("events_sum", "descending"),
        ("answer_min", "ascending"),
        ("folded", "ascending"),
        ("answer_id", "ascending"),
    ]
    ranked = counted.sort_by([("question_id", "ascending"), *order]).combine_chunks()
    ids = ranked["question_id"].to_numpy()
    winners = ranked.filter(pa.array(np.diff(ids, prepend=~ids[:1]) != 0))
    place = pc.index_in(rows["question_id"], value_set=winners["question_id"].combine_chunks())
    agrees = pc.and_(
        pc.equal(winners["folded"].take(place), votes["folded"]),
        pc.equal(winners["answer_id"].take(place), votes["answer_id"]),
    )
    agrees = pc.or_(pc.fill_null(agrees, True), pc.invert(has_answer))
    return rows.filter(agrees), rows.filter(pc.invert(agrees))


def payloads(rows: pa.Table) -> pa.Table:
    """Return rows of questions with the columns of a reject's payload."""
    cluster_ids = rows["cluster_id"].cast(pa.string())  # a JSON number beyond 2**53 is rounded by most readers
    columns = {"question": rows["text"], "answer": rows["answer"], "answer_id": rows["answer_id"]}
    filters = {name: rows[name] for name in rows.column_names if name not in INDEX_ROWS.names}
    return pa.table({**columns, "cluster_id": cluster_ids, "events": rows["events"], **filters})
