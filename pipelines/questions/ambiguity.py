"""Ambiguous questions: one with several answers counts for its dominant answer, or for none.

MEMBERS of a question -> settle_answers -> MEMBERS of at most one cluster, REJECTS rows
NAMED_QUESTIONS, these MEMBERS -> with_settled_answers -> NAMED_QUESTIONS with the answer that they count for
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import LOG_ANSWER_ID, MEMBERS, REJECTS
from pipelines.questions.markup import SPLIT, has_markup, split_by_markup
from pipelines.questions.settings import Ambiguity
from pipelines.writing.rejects import reject_members
from schemas.ragged import most_frequent, runs_of, starts_of_runs
from schemas.text_arrays import encode


class Settled(NamedTuple):
    """Clusters that a shard's questions belong to.

    Attributes:
        members: MEMBERS rows, in their order, of the clusters that questions stay in.
        rejects: REJECTS rows, one for each question and cluster it leaves.
        counts: how many ``members`` there were, a question counted once in each of its clusters, how many
            ``questions_with_several_answers``, and, if there are any, those of which some differ in HTML alone.
    """

    members: pa.Table
    rejects: pa.Table
    counts: dict[str, int]


def settle_answers(members: pa.Table, ambiguity: Ambiguity) -> Settled:
    """Keep every question in the cluster with most of its events, or reject it as ambiguous.

    Of equally frequent clusters the one with the smallest id dominates. A question with one cluster stays there.

    Args:
        members: MEMBERS, one row a question, cluster and answer form; all rows of each question are present.
        ambiguity: the limits.
    """
    question_ids, answer_ids = members["question_id"].to_numpy(), members["answer_id"].to_numpy()
    order = np.lexsort((answer_ids, question_ids))
    place_starts = starts_of_runs(question_ids[order], answer_ids[order])
    question_of_place = question_ids[order[place_starts]]
    question_starts, sizes = runs_of(question_of_place)
    several = question_of_place[question_starts[sizes > 1]]
    counts = {"members": len(place_starts), "questions_with_several_answers": len(several)}
    is_off = ambiguity.min_answer_share == 0
    if not len(several) or (is_off and not has_markup(encode(members["answer"]).dictionary)):
        return Settled(members, REJECTS.empty_table(), counts)
    contested = pa.array(np.isin(question_ids[order], several))
    rows = members.take(pa.array(order).filter(contested))
    if split := split_by_markup(rows):
        counts[SPLIT] = split
    if is_off:
        return Settled(members, REJECTS.empty_table(), counts)
    settled, rejects = _settle(rows, ambiguity)
    certain = members.take(pa.array(order).filter(pc.invert(contested)))
    return Settled(pa.concat_tables([certain, settled]), rejects, counts)


def with_settled_answers(questions: pa.Table, members: pa.Table) -> pa.Table:
    """Return questions with the most frequent form of the answer that they count for; null where they count for none.

    The time of day is no answer to the question of the time: it was right once.

    Args:
        questions: NAMED_QUESTIONS.
        members: MEMBERS of `settle_answers` of the same questions.
    """
    ids, events = (members[name].combine_chunks() for name in ("question_id", "events"))
    forms = encode(members["answer"])
    settled = most_frequent(ids, forms, events)
    chosen = settled["value"].combine_chunks().take(pc.index_in(ids, settled["group"].combine_chunks()))
    named = members.select(["question_id", LOG_ANSWER_ID.name]).filter(pc.equal(forms.indices, chosen.indices))
    given = named.group_by("question_id", use_threads=False).aggregate([(LOG_ANSWER_ID.name, "min")])
    for name, question_ids, values in (
        ("answer", settled["group"], settled["value"]),
        ("answer_id", given["question_id"], given[f"{LOG_ANSWER_ID.name}_min"]),
    ):
        column = values.take(pc.index_in(questions["question_id"], question_ids.combine_chunks()))
        questions = questions.set_column(questions.column_names.index(name), questions.schema.field(name), column)
    return questions


def _settle(rows: pa.Table, ambiguity: Ambiguity) -> tuple[pa.Table, pa.Table]:
    """Return the rows of dominant answers, and REJECTS rows for the others; all questions have several clusters."""
    questions, answers = rows["question_id"].to_numpy(), rows["answer_id"].to_numpy()
    starts, sizes = runs_of(questions, answers)
    events = np.add.reduceat(rows["events"].to_numpy(), starts)
    of_question, counts = runs_of(questions[starts])
    question = np.repeat(np.arange(len(of_question)), counts)
    largest = np.maximum.reduceat(events, of_question)[question]
    total = np.add.reduceat(events, of_question)[question]
    clear = (largest / total >= ambiguity.min_answer_share) & (largest >= ambiguity.min_answer_events)
    leading = np.flatnonzero(events == largest)  # in order of question and cluster: the first of a question dominates
    stays = np.zeros(len(starts), bool)
    stays[leading[starts_of_runs(question[leading])]] = True
    stays &= clear

    place = np.repeat(np.arange(len(starts)), sizes)
    merged = _one_row_a_place(rows, starts, place, events)
    reasons = {"ambiguous": (~clear, largest / total), "minority_answer": (clear & ~stays, events / total)}
    rejects = [
        reject_members(merged.filter(pa.array(left)), stage="ambiguity", reason=reason, scores=pa.array(share[left]))
        for reason, (left, share) in reasons.items()
    ]
    return rows.filter(pa.array(stays[place])), pa.concat_tables(rejects)


def _one_row_a_place(rows: pa.Table, starts: np.ndarray, place: np.ndarray, events: np.ndarray) -> pa.Table:
    """Return MEMBERS with the forms of an answer that a question got merged, whatever other questions got."""
    forms = most_frequent(pa.array(place), encode(rows["answer"]), rows["events"].combine_chunks())
    first = rows.take(pa.array(starts))
    columns = {name: first[name] for name in MEMBERS.names} | {"events": pa.array(events), "answer": forms["value"]}
    return pa.table(columns).cast(MEMBERS)
