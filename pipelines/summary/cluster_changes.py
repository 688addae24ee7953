"""Changes of clusters between two versions of a dataset.

clusters before, clusters after -> cluster_changes -> one row a cluster; count_changes -> number of clusters by change
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.ragged import lists_of

CHANGES: Final = ("kept", "grew", "shrank", "merged", "split", "gone", "new")
"""What becomes of a cluster: ``kept`` has the same questions, ``grew`` has more or others, ``shrank`` fewer; the
questions of a ``merged`` one are in a cluster with those of another, those of a ``split`` one in several."""

SCHEMA: Final = pa.schema(
    [
        pa.field("cluster_id", pa.int64()),  # of the version before; of a new cluster its own
        pa.field("change", pa.string(), nullable=False),
        pa.field("became", pa.list_(pa.int64()), nullable=False),  # clusters of the later version with its questions
        pa.field("size_before", pa.int64(), nullable=False),  # 0 of a new cluster
        pa.field("size_after", pa.int64(), nullable=False),  # questions of the clusters that it became
        pa.field("questions_kept", pa.int64(), nullable=False),  # its questions among these
    ]
)


def cluster_changes(before: pa.Table, after: pa.Table) -> pa.Table:
    """Return the change of every cluster, and every new cluster, ordered by change and id.

    Clusters are compared by their questions, not by their ids, which differ where an answer is renamed. With
    ``--min-answer-share 0`` a question can be in several clusters: one that stays in the cluster of an id links it to
    this one alone, since otherwise all clusters with a common question would have split each night.

    Args:
        before: ``cluster_id`` and ``question_ids`` of the older version.
        after: of the later one.
    """
    old_ids, old_sizes = before["cluster_id"].to_numpy(), _sizes(before)
    new_ids, new_sizes = after["cluster_id"].to_numpy(), _sizes(after)
    places = _places(before, after)
    links = _distinct(places, "old", "new").sort_by([("old", "ascending"), ("new", "ascending")])
    old, new = links["old"].to_numpy(), links["new"].to_numpy()
    parts, sources = np.bincount(old, minlength=len(old_ids)), np.bincount(new, minlength=len(new_ids))
    kept = np.bincount(_distinct(places, "old", "question_id")["old"].to_numpy(), minlength=len(old_ids))
    total = np.bincount(old, weights=new_sizes[new], minlength=len(old_ids)).astype(np.int64)
    joined = np.bincount(old, weights=sources[new] > 1, minlength=len(old_ids)) > 0
    change = np.select(
        [parts == 0, parts > 1, joined, total == old_sizes, kept < old_sizes],
        ["gone", "split", "merged", "same size", "shrank"],
        default="grew",
    ).astype(object)
    same_size = change == "same size"
    change[same_size] = np.where((kept == old_sizes)[same_size], "kept", "grew")
    change[(change == "shrank") & (total > kept)] = "grew"
    of_old = pa.table(
        {
            "cluster_id": old_ids,
            "change": pa.array(change, pa.string()),
            "became": lists_of(pa.array(new_ids[new]), np.searchsorted(old, np.arange(len(old_ids)))),
            "size_before": old_sizes,
            "size_after": total,
            "questions_kept": kept,
        }
    )
    fresh = sources == 0
    nothing = np.zeros(int(fresh.sum()), np.int64)
    of_new = pa.table(
        {
            "cluster_id": new_ids[fresh],
            "change": pa.array(["new"] * len(nothing), pa.string()),
            "became": lists_of(pa.array(new_ids[fresh]), np.arange(len(nothing))),
            "size_before": nothing,
            "size_after": new_sizes[fresh],
            "questions_kept": nothing,
        }
    )
    whole = pa.concat_tables([of_old.cast(SCHEMA), of_new.cast(SCHEMA)])
    return whole.sort_by([("change", "ascending"), ("cluster_id", "ascending")])


def count_changes(changes: pa.Table) -> dict[str, int]:
    """Return the number of clusters by change, zeros included."""
    names = np.array(changes["change"].to_pylist(), object)
    return {name: int(np.count_nonzero(names == name)) for name in CHANGES}


def changed_share(counts: dict[str, int]) -> float:
    """Return the share of the clusters of both versions that are not kept; 0 where there is none."""
    total = sum(counts.values())
    return 1 - counts["kept"] / total if total else 0.0


def _sizes(clusters: pa.Table) -> np.ndarray:
    return np.asarray(pc.list_value_length(clusters["question_ids"]).to_numpy(), np.int64)


def _places(before: pa.Table, after: pa.Table) -> pa.Table:
    """Return a row for each question, old cluster and new cluster that it links: their numbers in both tables."""
    sides = [
        pa.table(
            {
                "question_id": pc.list_flatten(clusters["question_ids"]),
                name: np.repeat(np.arange(len(clusters)), _sizes(clusters)),
                f"{name}_id": np.repeat(clusters["cluster_id"].to_numpy(), _sizes(clusters)),
            }
        )
        for name, clusters in (("old", before), ("new", after))
    ]
    joined = sides[0].join(sides[1], "question_id", join_type="inner", use_threads=False)
    same = pc.equal(joined["old_id"], joined["new_id"])
    stays, moves = joined.filter(same), joined.filter(pc.invert(same))
    for name in ("old_id", "new_id"):
        moves = moves.join(
            stays.select(["question_id", "old_id"]),
            ["question_id", name],
            ["question_id", "old_id"],
            join_type="left anti",
            use_threads=False,
        )
    columns = ["question_id", "old", "new"]
    return pa.concat_tables([stays.select(columns), moves.select(columns)])


def _distinct(table: pa.Table, *columns: str) -> pa.Table:
    return table.group_by(list(columns), use_threads=False).aggregate([])
