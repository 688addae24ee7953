"""Ids of clusters that stay while a log grows.

MEMBERS, their groups -> cluster_ids -> id of the cluster of each row

The id of a cluster is the hash of its answer and of its oldest question: the one that was asked first, of several the
one with the smallest id. New questions are younger, so a cluster keeps its id while it grows, and one build of all days
gives the ids of a build a day. Once the oldest question has left the log, its cluster is known by those that were in a
cluster with it, and stays so when that question is asked again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.arrays import Int64s
from schemas.hashing import mix
from schemas.ragged import runs_of, sizes_of_runs
from schemas.text_arrays import hash64_all


def cluster_ids(members: pa.Table, group: Int64s) -> Int64s:
    """Return the id of the cluster of each row, (R,) int64.

    Args:
        members: (R,) MEMBERS ordered by answer and question, all rows of each answer present. ``cluster_id`` is that of
            the question in an earlier version, with this answer, if the oldest question of that cluster is gone.
        group: (R,) number of a group of questions with one answer; equal for the questions of a cluster.
    """
    order = np.argsort(group, kind="stable")
    starts, sizes = runs_of(group[order])
    cluster = np.empty(len(group), np.int64)
    cluster[order] = np.repeat(np.arange(len(starts)), sizes)
    ids = ids_of(members.take(pa.array(order[oldest_of(members, order, starts)])))
    if members["cluster_id"].null_count < len(members):
        ids = _inherited(members, cluster, ids)
    return ids[cluster]


def ids_of(oldest: pa.Table) -> Int64s:
    """Return the id of the cluster with each of these oldest questions, (R,) int64.

    Args:
        oldest: (R,) with ``answer_id`` and ``question_id``.
    """
    answers, questions = (oldest[name].combine_chunks().cast(pa.string()) for name in ("answer_id", "question_id"))
    named = pc.binary_join_element_wise(answers, questions, ":").dictionary_encode()
    ids: Int64s = hash64_all(named.dictionary).take(named.indices).to_numpy()
    return ids


def further_ids(ids: Int64s) -> Iterator[Int64s]:
    """Yield the second to ninth ids, (R,) int64, of clusters whose own ids, (R,), other clusters can have inherited."""
    return (mix(ids, number).view(np.int64) for number in range(1, 9))


def oldest_of(asked: pa.Table, order: Int64s, starts: Int64s) -> Int64s:
    """Return the place in ``order`` of the oldest question of each run; questions without a time are the youngest.

    Args:
        asked: (R,) with ``first_seen``.
        order: (R,) rows by group, those of a group by question.
        starts: place in ``order`` of the first row of each group.
    """
    seen = pc.fill_null(asked["first_seen"].cast(pa.int64()), np.iinfo(np.int64).max).to_numpy()[order]
    if not len(seen):
        return starts
    sizes = sizes_of_runs(starts, len(seen))
    places = np.flatnonzero(seen == np.repeat(np.minimum.reduceat(seen, starts), sizes))
    return places[np.searchsorted(places, starts)]


def _inherited(members: pa.Table, cluster: Int64s, ids: Int64s) -> Int64s:
    """Return the ids of clusters, those of earlier ones in place of their own where the oldest question has left.

    An earlier id goes to the cluster with most of the questions that had it, if these are at least half of its
    questions. A cluster with several takes the one that more of its questions had. Where the oldest question is back
    and in another cluster, that one has a further id.

    Args:
        members: (R,) as in `cluster_ids`.
        cluster: (R,) number of the cluster of each row.
        ids: (C,) by the oldest question of each cluster.
    """
    had = pc.is_valid(members["cluster_id"]).to_numpy()
    earlier = members["cluster_id"].drop_null().to_numpy()
    pairs, votes = np.unique(np.stack([earlier, cluster[had]]), axis=1, return_counts=True)
    names, places = pairs
    order = np.lexsort((ids[places], -votes, names))
    first = order[np.unique(names[order], return_index=True)[1]]  # of each earlier id, the cluster with most votes
    enough = first[2 * votes[first] >= np.bincount(cluster)[places[first]]]
    best = enough[np.lexsort((names[enough], -votes[enough], places[enough]))]
    taken, row = np.unique(places[best], return_index=True)
    inherited = names[best[row]]
    result = ids.copy()
    result[taken] = inherited
    others = np.setdiff1d(np.arange(len(ids)), taken)
    for further in further_ids(ids):
        clash = others[np.isin(result[others], inherited)]
        if not len(clash):
            break
        result[clash] = further[clash]
    return result
