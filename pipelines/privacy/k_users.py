"""Limits on users: questions that at least a number of them asked, and the weight of each.

ASKED rows with users -> limit_answers -> Limited: ASKED rows with users, REJECTS rows
ASKED rows with users -> limit_users -> Limited: ASKED rows without users, REJECTS rows
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import ASKED, ENOUGH, LOG_ANSWER_ID, REJECTS, USER
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey, as_text, hash_questions
from pipelines.writing.rejects import ROWS, json_objects, reject
from schemas.ragged import runs_of, starts_of_runs
from schemas.text_arrays import in_order

STAGE = "privacy"

_NONE: Final = REJECTS.append(ROWS).empty_table()


class Limited(NamedTuple):
    """ASKED rows and REJECTS rows with `ROWS`; the events and the rows add up to the events given."""

    asked: pa.Table
    rejects: pa.Table


def limit_answers(asked: pa.Table, privacy: Privacy, key: UserKey | None) -> Limited:
    """Reject the log rows of a user by which one answer has too many of them, so that no cluster has more of the user.

    Of wordings without a row that counts, one row with no events is left: the user still asked the question.

    Args:
        asked: ASKED and `pipelines.intermediate.USER`; all rows of each user and answer are present.
        privacy: the limits.
        key: of the hashes of questions.
    """
    limit = privacy.max_answer_events_of_user
    return Limited(*_without_surplus(asked, limit, key, of="answer_id", reason="too_many_of_user_and_answer"))


def limit_users(asked: pa.Table, privacy: Privacy, key: UserKey | None) -> Limited:
    """Reject the log rows of questions that too few users asked, then those by which one user outweighs others.

    The payload of a rejected row has no text: the keyed hash of the question, if there is a key, and the number of
    rows that were rejected with it.

    Args:
        asked: ASKED and, where users are limited, `pipelines.intermediate.USER`; all rows of each question are present.
        privacy: the limits.
        key: of the hashes of questions.
    """
    if USER.name not in asked.column_names:
        return Limited(asked, _NONE)
    of_days = ENOUGH.name in asked.column_names  # which have limited the rows of a user
    kept, few = _with_enough_users(asked, privacy.min_users, key)
    capped, many = _limit_questions(kept, None if of_days else privacy.max_events_of_user, key)
    return Limited(_that_count(capped), pa.concat_tables([few, many]))


def limit_day(asked: pa.Table, privacy: Privacy, key: UserKey | None) -> tuple[Limited, pa.Table]:
    """Return the rows of a day as of `limit_users`, and those of questions that wait for users of other days.

    Without a key nobody could be recognized on another day, so nothing waits.

    Args:
        asked: as for `limit_users`; the hashes of users have the key.
        privacy: the limits.
        key: of the hashes.
    """
    if key is None or privacy.min_users == 1 or USER.name not in asked.column_names:
        return limit_users(asked, privacy, key), ASKED.append(USER).empty_table()
    capped, rejects = _limit_questions(asked, privacy.max_events_of_user, key)
    enough = _is_of_many(capped, privacy.min_users)
    waiting = capped.filter(pa.array(~enough)).select([*ASKED.names, USER.name])
    return Limited(_that_count(capped.filter(pa.array(enough))), rejects), waiting


def _that_count(asked: pa.Table) -> pa.Table:
    """Return ASKED of the rows that have events."""
    return asked.filter(pc.greater(asked["events"], 0)).select(ASKED.names)


def _is_of_many(asked: pa.Table, least: int) -> np.ndarray:
    """Return for each row whether at least ``least`` distinct users asked its question."""
    ids, question = np.unique(asked["question_id"].to_numpy(), return_inverse=True)
    return np.asarray(_count_users(asked, question, len(ids)) >= least)[question]


def _count_users(asked: pa.Table, question: np.ndarray, questions: int) -> np.ndarray:
    """Return the number of distinct users of each question."""
    has_user = pc.is_valid(asked[USER.name]).to_numpy()
    who, of = asked[USER.name].filter(pa.array(has_user)).to_numpy(), question[has_user]
    order = np.lexsort((who, of))
    distinct = of[order][starts_of_runs(of[order], who[order])]
    return np.bincount(distinct, minlength=questions)


def _with_enough_users(asked: pa.Table, least: int, key: UserKey | None) -> tuple[pa.Table, pa.Table]:
    """Return the rows of questions that at least ``least`` distinct users asked, and REJECTS rows for the others."""
    if least == 1:  # rows without a user id stay too
        return asked, _NONE
    ids, first, question = np.unique(asked["question_id"].to_numpy(), return_index=True, return_inverse=True)
    users = _count_users(asked, question, len(ids))
    if ENOUGH.name in asked.column_names:
        users[question[asked[ENOUGH.name].to_numpy()]] = least
    events = np.zeros(len(ids), np.int64)
    np.add.at(events, question, asked["events"].to_numpy())
    few = users < least
    rejected = asked.take(pa.array(first[few]))
    rejects = _reject(rejected, events[few], reason="too_few_users", scores=users[few], key=key)
    return asked.filter(pa.array(~few[question])), rejects


def _limit_questions(asked: pa.Table, limit: int | None, key: UserKey | None) -> tuple[pa.Table, pa.Table]:
    """Return rows with at most ``limit`` events of a user and question, and REJECTS rows for the other events."""
    return _without_surplus(asked, limit, key, of="question_id", reason="too_many_of_user")


def _without_surplus(
    asked: pa.Table, limit: int | None, key: UserKey | None, *, of: str, reason: str
) -> tuple[pa.Table, pa.Table]:
    """Return rows with at most ``limit`` events of a user and a value of a column, and REJECTS rows for the others.

    The events of a user's most frequent wordings and answers stay; of equally frequent ones those of the smallest.

    Args:
        asked: ASKED and `pipelines.intermediate.USER`; all rows of each user and value are present.
        limit: maximum number; None: no limit.
        key: of the hashes of questions.
        of: the column.
        reason: of the rejects.
    """
    has_user = pc.is_valid(asked[USER.name]).to_numpy()
    if limit is None or not has_user.any():
        return asked, _NONE
    names = [of, USER.name]
    totals = asked.filter(pa.array(has_user)).group_by(names, use_threads=False).aggregate([("events", "sum")])
    over = totals.filter(pc.greater(totals["events_sum"], limit)).select(names)
    if not len(over):
        return asked, _NONE
    rows = pa.array(np.arange(len(asked)))
    places = asked.select(names).append_column("row", rows).join(over, names, join_type="inner", use_threads=False)
    heavy = np.isin(np.arange(len(asked)), places["row"].to_numpy())
    forms = [name for name in ("question_id", "key", "text", "answer_id", "answer", LOG_ANSWER_ID.name) if name != of]
    of_heavy = asked.filter(pa.array(heavy))
    answers, place = in_order(of_heavy["answer"]), asked.schema.get_field_index("answer")
    merged = (
        of_heavy.set_column(place, "answer", answers.indices)
        .group_by([*names, *forms], use_threads=False)
        .aggregate([("events", "sum"), ("first_seen", "min"), ("last_seen", "max")])
        .rename_columns([*names, *forms, "events", "first_seen", "last_seen"])
        .sort_by(
            [(name, "ascending") for name in names] + [("events", "descending")] + [(f, "ascending") for f in forms]
        )
    )
    events = merged["events"].to_numpy()
    starts, sizes = runs_of(merged[of].to_numpy(), merged[USER.name].to_numpy())
    before = np.cumsum(events) - events
    before -= np.repeat(before[starts], sizes)
    allowed = np.clip(limit - before, 0, events)
    texts = pa.DictionaryArray.from_arrays(merged["answer"].combine_chunks(), answers.dictionary)
    left = merged.set_column(merged.schema.get_field_index("events"), "events", pa.array(allowed))
    left = left.set_column(left.schema.get_field_index("answer"), "answer", texts)
    schema = asked.schema
    kept = pa.concat_tables([asked.filter(pa.array(~heavy)), left.select(schema.names).cast(schema)])
    cut = np.flatnonzero(events > allowed)
    rejected = merged.take(pa.array(cut))
    return kept, _reject(rejected, (events - allowed)[cut], reason=reason, scores=events[cut], key=key)


def _reject(questions: pa.Table, rows: np.ndarray, *, reason: str, scores: np.ndarray, key: UserKey | None) -> pa.Table:
    """Return one REJECTS row for each case, which stands for all of its log rows by the column `ROWS`.

    Args:
        questions: ASKED rows, one for each case.
        rows: number of log rows to reject in each.
        reason: of all.
        scores: the deciding number of each.
        key: of the hashes of questions.
    """
    some = rows > 0  # of a question whose rows did not count before no row is left to reject
    questions, rows, scores = questions.filter(pa.array(some)), rows[some], scores[some]
    columns: dict[str, pa.Array] = {"rows": pa.array(rows)}
    if key is not None:
        columns = {"question": as_text(hash_questions(questions["key"], key))} | columns
    payloads = json_objects(pa.table(columns))
    rejects = reject(
        payloads,
        stage=STAGE,
        reasons=reason,
        scores=pa.array(scores.astype(np.float64)),
        shard_keys=questions["question_id"].combine_chunks(),
    )
    return rejects.append_column(ROWS, pa.array(rows, ROWS.type))
