"""Usable rows of a file of labelled pairs: questions, edges and ids.

rows as read -> validate_pairs -> ASKED rows, EDGES, QIDS, REJECTS rows
EDGES -> sort_edges -> positive and negative EDGES
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.duplicates.rows import EDGES, QIDS
from pipelines.intermediate import ASKED
from pipelines.questions.row_filters import first_true, question_faults
from pipelines.reading.headers.columns import Column
from pipelines.writing.rejects import reject_rows
from schemas.tables import with_nulls
from schemas.text_arrays import encode, hash64_all, key_all

COLUMNS: Final = [
    Column("question1", pa.string()),
    Column("question2", pa.string()),
    Column("is_duplicate", pa.string()),
    Column("qid1", pa.string(), required=False),
    Column("qid2", pa.string(), required=False),
]
"""What a file of pairs holds; the ids only serve to find rows that pair a question with itself, and to count."""

_LABELS: Final = {"1": True, "true": True, "0": False, "false": False}
_WHOLE_NUMBER: Final = r"^([01])\.0+$"  # pandas writes a column of whole numbers with gaps as 1.0 and 0.0


class Paired(NamedTuple):
    """Questions and edges of some rows.

    Attributes:
        asked: ASKED rows without cluster and answer. ``events`` counts the places of a text, and a row has two, so all
            events together are twice the rows kept.
        edges: EDGES of the rows kept.
        qids: QIDS of all rows, kept or not.
        rejects: REJECTS rows; the rows of the edges and these add up to the rows read.
    """

    asked: pa.Table
    edges: pa.Table
    qids: pa.Table
    rejects: pa.Table


class Sorted(NamedTuple):
    """EDGES between different questions, each once, by label, and what was counted."""

    positive: pa.Table
    negative: pa.Table
    counts: dict[str, int]


def validate_pairs(rows: pa.Table) -> Paired:
    """Reject rows with an unusable question or label and count the questions and edges of the others.

    Args:
        rows: `COLUMNS`, all nullable.
    """
    both = encode(pa.chunked_array([*rows["question1"].chunks, *rows["question2"].chunks], pa.string()))
    texts = both.dictionary
    keys = key_all(texts)
    first, second = both.indices[: len(rows)], both.indices[len(rows) :]
    faults = question_faults(texts, keys)
    label = _labels(rows["is_duplicate"].combine_chunks())
    reasons = pc.coalesce(
        *(pc.if_else(pc.is_null(side), "missing_question", faults.take(side)) for side in (first, second)),
        first_true(
            {
                "self_pair": pc.equal(rows["qid1"].combine_chunks(), rows["qid2"].combine_chunks()),
                "bad_is_duplicate": pc.is_null(label),
            }
        ),
    )
    kept = pc.is_null(reasons)
    ids = hash64_all(keys)
    return Paired(
        asked=_asked(texts, keys, ids, pa.concat_arrays([first.filter(kept), second.filter(kept)])),
        edges=_edges(ids.take(first.filter(kept)), ids.take(second.filter(kept)), label.filter(kept)),
        qids=_qids(rows, both),
        rejects=reject_rows(rows, reasons),
    )


def _labels(values: pa.Array) -> pa.Array:
    """Return true for a paraphrase, false for none, null for what is neither."""
    coded = encode(pc.ascii_lower(pc.utf8_trim_whitespace(values)))
    spelled = pc.replace_substring_regex(coded.dictionary, _WHOLE_NUMBER, r"\1").to_pylist()
    return pa.array([_LABELS.get(value) for value in spelled], pa.bool_()).take(coded.indices)


def _asked(texts: pa.Array, keys: pa.Array, ids: pa.Array, indices: pa.Array) -> pa.Table:
    events = np.bincount(indices.to_numpy(), minlength=len(texts))
    used = pa.array(np.flatnonzero(events))
    columns = {
        "question_id": ids.take(used),
        "key": keys.take(used),
        "text": texts.take(used),
        "events": pa.array(events).take(used),
    }
    return with_nulls(ASKED, columns)


def _edges(id_1: pa.Array, id_2: pa.Array, positive: pa.Array) -> pa.Table:
    one_way = {"id_1": pc.min_element_wise(id_1, id_2), "id_2": pc.max_element_wise(id_1, id_2), "positive": positive}
    return count_edges(pa.table({**one_way, "rows": pa.repeat(1, len(id_1))}))


def count_edges(edges: pa.Table) -> pa.Table:
    """Return EDGES with each pair and label once."""
    counted = edges.group_by(["id_1", "id_2", "positive"], use_threads=False).aggregate([("rows", "sum")])
    return counted.rename_columns(["id_1", "id_2", "positive", "rows"]).cast(EDGES)


def sort_edges(edges: pa.Table) -> Sorted:
    """Return the edges between different questions by label, and count the other rows.

    Args:
        edges: EDGES; all rows of each pair are present.
    """
    counted = count_edges(edges)
    differ = pc.not_equal(counted["id_1"], counted["id_2"])
    positive, negative = (
        counted.filter(pc.and_(differ, pc.equal(counted["positive"], label))) for label in (True, False)
    )
    both = positive.join(negative, ["id_1", "id_2"], join_type="inner", right_suffix="_negative", use_threads=False)
    counts = {
        **_count_rows(counted),
        "positive_edges": len(positive),
        "negative_edges": len(negative),
        "contradicting_edges": len(both),
    }
    return Sorted(positive, negative, counts)


def _count_rows(counted: pa.Table) -> dict[str, int]:
    """Return the rows of each label, and those that add no edge: one question twice, or a pair seen before."""
    counts: dict[str, int] = {}
    for name, label in (("positive", True), ("negative", False)):
        rows = counted.filter(pc.equal(counted["positive"], label))
        alike = pc.equal(rows["id_1"], rows["id_2"])
        same = pc.sum(rows["rows"].filter(alike)).as_py() or 0
        total = pc.sum(rows["rows"]).as_py() or 0
        edges = len(rows) - (pc.sum(alike).as_py() or 0)
        counts |= {
            f"rows_{name}": total,
            f"rows_{name}_same_question": same,
            f"rows_{name}_repeated": total - same - edges,
        }
    return counts


def _qids(rows: pa.Table, both: pa.DictionaryArray) -> pa.Table:
    ids = encode(pa.chunked_array([*rows["qid1"].chunks, *rows["qid2"].chunks], pa.string()))
    stood = pa.table({"qid": ids.indices, "text": both.indices}).drop_null()
    distinct = stood.group_by(["qid", "text"], use_threads=False).aggregate([])
    hashed = {"qid": hash64_all(ids.dictionary), "text": hash64_all(both.dictionary)}
    return pa.table({name: values.take(distinct[name]) for name, values in hashed.items()}).cast(QIDS)
