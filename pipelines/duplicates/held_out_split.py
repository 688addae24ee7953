"""Clusters of questions that people marked as duplicates, and the split of each.

COMPONENTS -> size_clusters -> SIZES -> shortlist -> hold_out -> the split of every cluster that is not in train
COMPONENTS -> place_questions -> ASKED rows with a question's cluster
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.duplicates.rows import SIZES, SPLITS_OF
from pipelines.duplicates.settings import HeldOut
from pipelines.intermediate import ASKED
from schemas.hashing import uniform
from schemas.ragged import pairs_in_runs, ranks_in_runs, starts_of_runs
from schemas.tables import with_nulls
from schemas.text_arrays import hash64_all

LARGEST_SHARE: Final = 0.1
"""Of few pairs, validation and test take no more than a tenth each."""


def cluster_ids_of(roots: pa.Array) -> pa.Array:
    """Return the id of the cluster that is the component of each root, its smallest question."""
    named = pc.binary_join_element_wise("pairs:", roots.cast(pa.string()), "").dictionary_encode()
    return hash64_all(named.dictionary).take(named.indices)


def size_clusters(member_of: pa.Table) -> pa.Table:
    """Return SIZES of the clusters of two questions or more.

    Args:
        member_of: `pipelines.duplicates.connected_components.COMPONENTS`; all rows of each component are present.
    """
    roots, sizes = np.unique(member_of["component"].to_numpy(), return_counts=True)
    several = sizes > 1
    return pa.table([cluster_ids_of(pa.array(roots[several])), pa.array(sizes[several])], schema=SIZES)


def pairs_of(sizes: pa.Table) -> np.ndarray:
    """Return how many pairs the questions of each cluster make, (C,) int64."""
    return pairs_in_runs(sizes["questions"].to_numpy())


def place_questions(member_of: pa.Table) -> pa.Table:
    """Return an ASKED row with nothing but the cluster for each question of a cluster; its ``key`` is null."""
    ids = cluster_ids_of(member_of["component"].combine_chunks())
    return with_nulls(ASKED, {"question_id": member_of["node"], "answer_id": ids})


def shortlist(sizes: pa.Table, held_out: HeldOut) -> pa.Table:
    """Return the SIZES that can decide which clusters are held out: at most four rows for each pair that is.

    Room only shrinks, so once a cluster does not fit, none of its size fits any more. The ones taken of ``s`` pairs
    each are the first in the order of `hold_out`, and both splits have room for no more than ``2 * pairs / s``.
    """
    pairs, place = pairs_of(sizes), _places(sizes["cluster_id"].to_numpy(), held_out.salt)
    order = np.lexsort((place, pairs))
    starts = starts_of_runs(pairs[order])
    rank = ranks_in_runs(starts, len(order))
    return sizes.take(pa.array(order[rank < 2 * held_out.pairs // pairs[order]]))


def hold_out(sizes: pa.Table, all_pairs: int, held_out: HeldOut) -> pa.Table:
    """Return SPLITS_OF, walking the clusters in an order that only their ids and the salt decide.

    A cluster goes to validation if its pairs fit there, else to test if they fit there, else to train. Both have room
    for ``held_out.pairs``, but at most for `LARGEST_SHARE` of all pairs.

    Args:
        sizes: SIZES of all clusters, or those of the `shortlist`.
        all_pairs: the pairs of all clusters there are.
        held_out: how much.
    """
    enough = min(held_out.pairs, int(LARGEST_SHARE * all_pairs))
    ids, pairs = sizes["cluster_id"].to_numpy(), pairs_of(sizes)
    room = {"validation": enough, "test": enough}
    split_of: dict[int, str] = {}
    for row in np.argsort(_places(ids, held_out.salt)).tolist():
        chosen = next((name for name, left in room.items() if pairs[row] <= left), None)
        if chosen:
            split_of[int(ids[row])] = chosen
            room[chosen] -= int(pairs[row])
    return pa.table([list(split_of), list(split_of.values())], schema=SPLITS_OF)


def _places(cluster_ids: np.ndarray, salt: str) -> np.ndarray:
    """Return the place of each cluster in the order of `hold_out`, (C,) int64, 0 the first."""
    place = np.empty(len(cluster_ids), np.int64)
    place[np.lexsort((cluster_ids, uniform(cluster_ids, salt)))] = np.arange(len(cluster_ids))
    return place
