"""Aggregation of all rows of a question, and the assignment of its cluster.

ASKED rows -> sum_equal_rows -> one row for each value of some columns
ASKED rows of a question -> name_questions -> NAMED_QUESTIONS rows without cluster, MEMBERS rows
NAMED_QUESTIONS rows and MEMBERSHIPS -> assign_clusters -> NAMED_QUESTIONS rows
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import LOG_ANSWER_ID, MEMBERS, MEMBERSHIPS, NAMED_QUESTIONS
from pipelines.questions.token_frequencies import TokenWeights, count_tokens
from schemas.hashing import bag_ids
from schemas.ragged import most_frequent, sizes_of_runs, starts_of_runs
from schemas.tables import conform, with_nulls
from schemas.text_arrays import distinct_all, encode, hash64_all, in_order, words_all


def sum_equal_rows(rows: pa.Table, by: Sequence[str], schema: pa.Schema) -> pa.Table:
    """Return one row for each value of the columns ``by``, in their order, with the events and times of all its rows.

    Args:
        rows: ASKED or some of its columns, ``answer``, ``events`` and both times among them.
        by: columns, ``answer`` among them.
        schema: of the result: these columns, ``events`` and both times.
    """
    answers = in_order(rows["answer"])
    coded = rows.set_column(rows.column_names.index("answer"), "answer", answers.indices)
    counted = coded.group_by([*by], use_threads=False).aggregate(
        [("events", "sum"), ("first_seen", "min"), ("last_seen", "max")]
    )
    named = counted.rename_columns([*by, "events", "first_seen", "last_seen"])
    ordered = named.select(schema.names).sort_by([(name, "ascending") for name in by])
    texts = pa.DictionaryArray.from_arrays(ordered["answer"].combine_chunks(), answers.dictionary)
    return ordered.set_column(schema.names.index("answer"), "answer", texts).cast(schema)


class Named(NamedTuple):
    """Questions of a shard with their members and token counts.

    Attributes:
        questions: NAMED_QUESTIONS rows, without cluster.
        members: MEMBERS rows, one a question, answer and answer form.
        token_counts: in how many of the questions each token occurs.
    """

    questions: pa.Table
    members: pa.Table
    token_counts: TokenWeights


def name_questions(asked: pa.Table) -> Named:
    """Give every question its text, counts, times, most frequent answer and tokens.

    Args:
        asked: ASKED; all rows of each question are present.
    """
    ids, events = asked["question_id"].combine_chunks(), asked["events"].combine_chunks()
    texts = most_frequent(ids, asked["text"].combine_chunks(), events)
    order = np.argsort(ids.to_numpy(), kind="stable")
    ordered = asked.take(pa.array(order))
    starts = starts_of_runs(ordered["question_id"].to_numpy())
    keys = ordered["key"].combine_chunks().take(pa.array(starts))
    questions = pa.table(
        {
            "question_id": texts["group"],
            "key": keys,
            "text": texts["value"],
            "events": pa.array(np.add.reduceat(ordered["events"].to_numpy(), starts)),
            "first_seen": _extreme(ordered["first_seen"], starts, np.minimum),
            "last_seen": _extreme(ordered["last_seen"], starts, np.maximum),
            "answer": most_frequent(ids, encode(asked["answer"]), events)["value"],
            "answer_id": pa.nulls(len(starts), pa.string()),
            "cluster_id": pa.nulls(len(starts), pa.int64()),
            "split": pa.nulls(len(starts), pa.string()),
        }
    ).cast(NAMED_QUESTIONS)
    words = word_ids(keys)
    described = questions.select(["question_id", "first_seen", "text"]).append_column("token_ids", distinct_all(words))
    described = described.append_column("bag_id", bag_ids(words))
    return Named(questions, _members(ordered, starts, described), count_tokens(described["token_ids"]))


def _extreme(times: pa.ChunkedArray, starts: np.ndarray, choose: np.ufunc) -> pa.Array:
    """Return the earliest or latest time of each run of rows; null where the run has none."""
    nothing = np.iinfo(np.int64).max if choose is np.minimum else np.iinfo(np.int64).min
    filled = pc.fill_null(times.cast(pa.int64()), nothing).to_numpy()
    chosen = choose.reduceat(filled, starts)
    return pa.array(chosen, mask=chosen == nothing).cast(times.type)


def _members(ordered: pa.Table, starts: np.ndarray, questions: pa.Table) -> pa.Table:
    question_of_row = np.repeat(np.arange(len(starts)), sizes_of_runs(starts, len(ordered)))
    answers = encode(ordered["answer"])
    counted = (
        pa.table(
            {
                "question": question_of_row,
                "answer_id": ordered["answer_id"],
                "answer": answers.indices,
                LOG_ANSWER_ID.name: ordered[LOG_ANSWER_ID.name],
                "events": ordered["events"],
            }
        )
        .group_by(["question", "answer_id", "answer", LOG_ANSWER_ID.name], use_threads=False)
        .aggregate([("events", "sum")])
    )
    of_question = questions.take(counted["question"].combine_chunks())
    columns = {
        **dict(zip(of_question.column_names, of_question.columns, strict=True)),
        "answer_id": counted["answer_id"],
        "answer": pa.DictionaryArray.from_arrays(counted["answer"].combine_chunks(), answers.dictionary),
        LOG_ANSWER_ID.name: counted[LOG_ANSWER_ID.name],
        "events": counted["events_sum"],
    }
    return with_nulls(MEMBERS, columns)


def word_ids(keys: pa.Array) -> pa.ListArray:
    """Return for each key the hashes of its words, repeats included: identity is all that matters of a word here."""
    words = words_all(keys)
    coded = pc.list_flatten(words).dictionary_encode()
    return pa.ListArray.from_arrays(words.offsets, hash64_all(coded.dictionary).take(coded.indices))


def token_ids(keys: pa.Array) -> pa.ListArray:
    """Return for each key the hashes of its distinct tokens."""
    return distinct_all(word_ids(keys))


def as_memberships(questions: pa.Table) -> pa.Table:
    """Return NAMED_QUESTIONS rows with the columns of MEMBERSHIPS, for the shuffle with their clusters."""
    return with_nulls(MEMBERSHIPS, dict(zip(questions.column_names, questions.columns, strict=True)))


def places(members: pa.Table) -> pa.Table:
    """Return the MEMBERSHIPS rows of MEMBERS in finished clusters."""
    columns = {name: members[name] for name in ("question_id", "cluster_id", "split")}
    return with_nulls(MEMBERSHIPS, columns | {"events_in_cluster": members["events"]})


def assign_clusters(memberships: pa.Table) -> pa.Table:
    """Return NAMED_QUESTIONS with ``cluster_id`` and ``split`` of the cluster with most of the question's events.

    Of equally frequent clusters the one with the smallest id counts; a question in no finished cluster has null.

    Args:
        memberships: MEMBERSHIPS; all rows of each question are present.
    """
    is_question = pc.is_valid(memberships["key"])
    questions = memberships.filter(is_question).sort_by("question_id")
    placed = memberships.filter(pc.invert(is_question))
    question_ids = questions["question_id"].to_numpy()
    ids = placed["question_id"].to_numpy()
    order = np.lexsort((placed["cluster_id"].to_numpy(), -placed["events_in_cluster"].to_numpy(), ids))
    best = order[starts_of_runs(ids[order])]
    row_of_question = np.full(len(questions), -1)
    row_of_question[np.searchsorted(question_ids, ids[best])] = best
    rows = pa.array(row_of_question, mask=row_of_question < 0)
    chosen = placed.select(["cluster_id", "split"]).take(rows)
    for name in chosen.column_names:
        questions = questions.set_column(questions.column_names.index(name), name, chosen[name])
    return conform(questions, NAMED_QUESTIONS)
