"""The rows that travel between the steps of a pipeline, before they become the tables of a dataset.

log rows -> ASKED -> QUESTIONS and MEMBERS -> CLUSTERS, PAIRS; TURNED_AWAY at every step
"""

from __future__ import annotations

from typing import Final, NamedTuple

import pyarrow as pa

from schemas.tables import ANSWER_ID, ID_TABLE, QUESTIONS, REJECTED

_TIME: Final = QUESTIONS.field("first_seen").type

ASKED: Final = pa.schema(
    [
        ("question_id", pa.int64()),
        ("key", pa.string()),
        ("text", pa.string()),  # one surface form of the question
        ("cluster_id", pa.int64()),  # of the answer it got
        ("answer", pa.string()),  # one surface form of that answer
        ("events", pa.int64()),  # log rows with exactly these forms
        ("first_seen", _TIME),
        ("last_seen", _TIME),
    ]
)
"""One row for each combination of question form, answer form and batch."""

MEMBERS: Final = pa.schema(
    [
        ("cluster_id", pa.int64()),
        ("question_id", pa.int64()),
        ("text", pa.string()),  # null on a train row that only tells which questions occur in train, and on a vote
        ("answer", pa.string()),
        ("events", pa.int64()),
        ("token_ids", pa.list_(pa.int64())),  # hash64 of the distinct tokens of the key
        ("bag_id", pa.int64()),  # of its words, repeats included, in any order
        ("split", pa.string()),  # null until the cluster is judged
        ("answer_hash", pa.int64()),  # what ``cluster_id`` was before answers were split; null until then
        ("linkage_probability", pa.float64()),  # of its cluster; null until then and where answers are not split
    ]
)
"""One row for each question of a cluster; until answers are split, of an answer, beside the votes of `surplus`."""

NOT_YET_KNOWN: Final = ("split", "answer_hash", "linkage_probability")
"""Columns of MEMBERS that are null until clusters are judged; of pairs the split is known."""

TURNED_AWAY: Final = pa.schema([("shard_key", pa.int64()), *REJECTED.remove_metadata()])
"""A row of `schemas.tables.REJECTED` with the hash that decides which file it goes to."""

INDEX_ROWS: Final = pa.schema([*ID_TABLE, ANSWER_ID])
"""A question on its way to its shard of an index; before equal questions are merged it may occur more than once."""


class BroadAnswer(NamedTuple):
    """An answer to unlike questions.

    Attributes:
        answer: its most frequent form in the shard.
        rows: that got it.
        questions: distinct ones; fewer than there are where `pipelines.clusters.size_cap` cut them.
    """

    answer: str
    rows: int
    questions: int
