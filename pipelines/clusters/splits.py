"""Split of a cluster: that of its answer's questions in earlier versions, else decided by a hash of its id alone.

cluster ids -> split_of -> train, validation, test; answer ids -> filling_salt -> salt that leaves no split empty
members with earlier splits -> keep_splits -> members of answers with one split each, members to reject
members -> without_splits -> members whose rejected rows have no split
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import REJECTS
from pipelines.questions.memberships import merge_answers
from pipelines.writing.rejects import reject_members
from schemas.hashing import uniform
from schemas.tables import SPLITS

SHARES = (0.8, 0.1, 0.1)
"""Expected shares of train, validation and test (Bonadiman et al. 2019, section 4.1.1)."""

SALTS: Final = 100
"""Salts that are tried: of ten answers each leaves no split empty with a chance of .41."""


def split_of(cluster_ids: np.ndarray, salt: str) -> pa.Array:
    """Return the split of each cluster: 80:10:10 by a hash of its id and ``salt``."""
    place = uniform(cluster_ids, salt)
    return pa.array(np.array(SPLITS, object)[np.searchsorted(np.cumsum(SHARES)[:-1], place, side="right")], pa.string())


def filling_salt(answer_ids: np.ndarray) -> str | None:
    """Return the salt, a number below `SALTS`, that leaves no split empty and train largest; None if there is none.

    Args:
        answer_ids: of the answers that have clusters.
    """
    answers = np.unique(answer_ids)
    best, largest = None, 0
    for salt in map(str, range(SALTS)):
        counts = [pc.sum(pc.equal(split_of(answers, salt), split)).as_py() or 0 for split in SPLITS]
        if min(counts) and counts[0] > largest:
            best, largest = salt, counts[0]
    return best


class KeptSplits(NamedTuple):
    """MEMBERS rows whose answers have one split or none, and REJECTS rows of questions that had another split."""

    members: pa.Table
    rejects: pa.Table


def keep_splits(members: pa.Table) -> KeptSplits:
    """Give every answer the earlier split of most of its questions; a question that had another one is rejected.

    So a question that once was in test is never in a later train, whatever becomes of its answer: renamed answers keep
    the split of their questions, and of answers that merge the minority of the questions is left out. Of equally
    frequent splits the one of `SPLITS` that is last counts, so that nothing held out is trained on.

    Args:
        members: MEMBERS of whole answers; ``split`` is that of the question in an earlier version, or null.
    """
    if members["split"].null_count == len(members):
        return KeptSplits(members, REJECTS.empty_table())
    codes = pc.fill_null(pc.index_in(members["split"], value_set=pa.array(SPLITS)), -1).to_numpy()
    answers, answer = np.unique(members["answer_id"].to_numpy(), return_inverse=True)
    has_split = codes >= 0
    voting = pa.table([answer, members["question_id"], codes], ["answer", "question", "split"]).filter(
        pa.array(has_split)
    )
    once = voting.group_by(voting.column_names).aggregate([])  # an answer in several spellings has a row for each
    votes = np.zeros((len(answers), len(SPLITS)), np.int64)
    np.add.at(votes, (once["answer"].to_numpy(), once["split"].to_numpy()), 1)
    chosen = len(SPLITS) - 1 - votes[:, ::-1].argmax(axis=1)
    undecided = votes.sum(axis=1) == 0
    moved = has_split & (codes != chosen[answer])
    names = pa.array(np.array(SPLITS, object)[chosen[answer]], pa.string(), mask=undecided[answer])
    place = members.column_names.index("split")
    kept = members.set_column(place, members.schema.field("split"), names)
    left_out = merge_answers(members.filter(pa.array(moved)))
    rejects = reject_members(left_out, stage="splits", reason="other_split_before")
    return KeptSplits(kept.filter(pa.array(~moved)), rejects)


def splits_of_answers(answer_ids: pa.ChunkedArray, kept: pa.Table, salt: str) -> pa.Array:
    """Return the split of each row: the one that its answer has among the members, else one by its hash.

    Args:
        answer_ids: of the rows.
        kept: members by `keep_splits` with all of these answers.
        salt: of the hash.
    """
    decided = split_of(answer_ids.to_numpy(), salt)
    if kept["split"].null_count == len(kept):
        return decided
    place = pc.index_in(answer_ids, value_set=kept["answer_id"].combine_chunks()).combine_chunks()
    return pc.coalesce(kept["split"].combine_chunks().take(place), decided)


def without_splits(members: pa.Table) -> pa.Table:
    """Return MEMBERS without their splits."""
    place = members.column_names.index("split")
    return members.set_column(place, members.schema.field("split"), pa.nulls(len(members), pa.string()))
