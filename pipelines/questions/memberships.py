"""Memberships: the questions of each answer, forms of one answer merged.

MEMBERS -> merge_answers -> one row a question and answer
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import MEMBERS
from schemas.ragged import most_frequent, starts_of_runs, sums_of_runs
from schemas.text_arrays import encode


def merge_answers(members: pa.Table) -> pa.Table:
    """Return one row a question of each cluster, in that order, with the cluster's most frequent answer form."""
    asked = members.filter(pc.is_valid(members["text"])) if members["text"].null_count else members
    answers, questions = asked["answer_id"].to_numpy(), asked["question_id"].to_numpy()
    order = np.lexsort((questions, answers))
    first = starts_of_runs(answers[order], questions[order])
    merged = asked.take(pa.array(order[first]))
    of_row = sums_of_runs(asked["events"].to_numpy()[order], first)
    ids, events = members["answer_id"].combine_chunks(), members["events"].combine_chunks()
    named = most_frequent(ids, encode(members["answer"]), events)
    answer_of_row = np.searchsorted(named["group"].to_numpy(), merged["answer_id"].to_numpy())
    return replace_columns(merged, events=pa.array(of_row), answer=named["value"].take(pa.array(answer_of_row)))


def replace_columns(members: pa.Table, **columns: pa.Array) -> pa.Table:
    """Return MEMBERS with some columns replaced."""
    return pa.table({name: columns.get(name, members[name]) for name in MEMBERS.names}).cast(MEMBERS)
