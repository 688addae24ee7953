"""Clusters of questions that people marked as duplicates, and the split of each.

EDGES of all pairs -> cluster_duplicates -> the cluster and split of every question that has a duplicate, counts
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pydantic

from pipelines.components import components
from pipelines.labelled_pairs import count_edges
from pipelines.splitting import DEFAULT_SALT, uniform
from schemas.columns import hash64_all

PLACED: Final = pa.schema([("question_id", pa.int64()), ("cluster_id", pa.int64()), ("split", pa.string())])
"""Where a question belongs."""


class HeldOut(pydantic.BaseModel, frozen=True, extra="forbid"):
    """How much is kept from training.

    Attributes:
        pairs: validation and test each get clusters with at most so many pairs, and as a rule exactly so many.
        salt: changes which clusters these are.
    """

    pairs: int = pydantic.Field(default=5_000, ge=0)
    salt: str = DEFAULT_SALT


LARGEST_SHARE: Final = 0.1
"""Of few pairs, validation and test take no more than a tenth each."""


class Duplicates(NamedTuple):
    """PLACED rows ordered by question, and what was counted."""

    placed: pa.Table
    counts: dict[str, int]


def cluster_duplicates(edges: pa.Table, held_out: HeldOut) -> Duplicates:
    """Return the connected components of the positive edges as clusters, each with its split.

    A cluster's id is the hash of its smallest question id. Without a positive edge there is none.

    Args:
        edges: EDGES of all rows of the input, in any order.
        held_out: how to split.
    """
    counted = count_edges(edges)
    differ = pc.not_equal(counted["id_1"], counted["id_2"])
    positive, negative = (
        counted.filter(pc.and_(differ, pc.equal(counted["positive"], label))) for label in (True, False)
    )
    member_of = components(positive)
    roots = pc.unique(member_of["component"])
    cluster_ids = hash64_all(pc.binary_join_element_wise("pairs:", roots.cast(pa.string()), ""))
    row_of_root = pc.index_in(member_of["component"], value_set=roots)
    sizes = np.bincount(row_of_root.to_numpy())
    splits = hold_out(cluster_ids.to_numpy(), sizes * (sizes - 1) // 2, held_out)
    placed = {
        "question_id": member_of["node"],
        "cluster_id": cluster_ids.take(row_of_root),
        "split": splits.take(row_of_root),
    }
    counts = {
        **_count_rows(counted),
        "positive_edges": len(positive),
        "negative_edges": len(negative),
        "components": len(roots),
        "component_questions": len(member_of),
        "closure_pairs": int((sizes * (sizes - 1) // 2).sum()),
        **_count_conflicts(positive, negative, member_of),
    }
    return Duplicates(pa.table(placed).cast(PLACED), counts)


def hold_out(cluster_ids: np.ndarray, pairs: np.ndarray, held_out: HeldOut) -> pa.Array:
    """Return the split of each cluster, walking them in an order that only their ids and the salt decide.

    A cluster goes to validation if its pairs fit there, else to test if they fit there, else to train. Both have room
    for ``held_out.pairs``, but at most for `LARGEST_SHARE` of all pairs.

    Args:
        cluster_ids: (C,) int64, distinct.
        pairs: (C,) int64, at least 1.
        held_out: how much.
    """
    enough = min(held_out.pairs, int(LARGEST_SHARE * pairs.sum()))
    order = np.lexsort((cluster_ids, uniform(cluster_ids, held_out.salt)))
    split = np.full(len(order), "train", object)
    room = {"validation": enough, "test": enough}
    for cluster in order.tolist():
        chosen = next((name for name, left in room.items() if pairs[cluster] <= left), None)
        if chosen:
            split[cluster] = chosen
            room[chosen] -= int(pairs[cluster])
        elif not any(room.values()):
            break
    return pa.array(split, pa.string())


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


def _count_conflicts(positive: pa.Table, negative: pa.Table, member_of: pa.Table) -> dict[str, int]:
    """Return how many negative edges are inside a component, and how many of them are positive edges as well."""
    component = [
        member_of["component"].take(pc.index_in(negative[side], value_set=member_of["node"]))
        for side in ("id_1", "id_2")
    ]
    both = positive.join(negative, ["id_1", "id_2"], join_type="inner", right_suffix="_negative", use_threads=False)
    return {
        "negative_edges_inside_a_component": pc.sum(pc.equal(*component)).as_py() or 0,
        "contradicting_edges": len(both),
    }
