"""Split, clusters and first time of each question in earlier versions.

clusters and questions of a version, EARLIER of the versions before -> remember -> EARLIER -> a file
MEMBERS of a new version, EARLIER -> place_earlier -> MEMBERS with it
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.clusters.cluster_ids import further_ids, ids_of, oldest_of
from pipelines.ingestion.days import DayFile
from pipelines.intermediate import ASKED
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_verified
from schemas.artifacts.table_files import read_rows
from schemas.hashing import mix
from schemas.ragged import starts_of_runs
from schemas.tables import SPLITS, with_nulls

EARLIER: Final = pa.schema(
    [
        ("question_id", pa.int64()),
        ("split", pa.string()),
        ("answer_id", pa.int64()),  # null in files of earlier releases
        ("cluster_id", pa.int64()),  # of the question with this answer when it last was in one; null if it left it
        ASKED.field("first_seen"),
        ("oldest_seen", ASKED.field("last_seen").type),  # last time of the oldest question of that cluster
    ]
)
"""A question that was in a cluster of an earlier version, once for each answer that it had in one."""

ADDED: Final = ("answer_id", "cluster_id", "first_seen", "oldest_seen")
"""Columns of `EARLIER` that files of earlier releases lack."""


def read_earlier_file(day_file: DayFile) -> Iterator[pa.Table]:
    """Yield the rows of a file with `EARLIER`.

    Raises:
        QprError: it is missing or damaged.
    """
    url, file = day_file
    name = storage.join(url, file.path)
    yield from read_rows(read_verified(url, file), EARLIER, name=name, rows=file.rows, absent=ADDED)


def to_earlier_file(earlier: pa.Table) -> bytes:
    """Return a file with `EARLIER`."""
    sink = pa.BufferOutputStream()
    pq.write_table(earlier, sink, compression="zstd", use_dictionary=["split"])
    return bytes(sink.getvalue().to_pybytes())


def place_earlier(members: pa.Table, earlier: pa.Table | None, since: datetime.datetime | None = None) -> pa.Table:
    """Return MEMBERS with the columns of each question in earlier versions, null where it is new.

    That is the split, the cluster that the question had with this answer if the oldest question of that cluster was
    last seen before the log begins, and the first time of the question if it is an earlier one.

    Args:
        members: MEMBERS without splits and clusters.
        earlier: EARLIER.
        since: beginning of the log; None: it has all that earlier versions had.
    """
    if earlier is None:
        return members
    first, before = _first_seen(earlier)
    start = pa.scalar(since, EARLIER.field("oldest_seen").type)
    left = pc.if_else(pc.less(earlier["oldest_seen"], start), earlier["cluster_id"], None)
    columns = {
        "split": _looked_up(members["question_id"], earlier["question_id"], earlier["split"]),
        "cluster_id": _looked_up(_pairs(members), _pairs(earlier), left),
        "first_seen": _earliest(members["first_seen"], _looked_up(members["question_id"], first, before)),
    }
    return pa.table({name: columns.get(name, members[name]) for name in members.column_names}).cast(members.schema)


def remember(
    earlier: pa.Table, clusters: pa.Table, questions: pa.Table, since: datetime.datetime | None = None
) -> pa.Table:
    """Return EARLIER of all versions, one row a question, answer and split, ordered by split and question.

    A question that is not in the new version keeps its cluster only if that one is not there either, so that it does
    not count when it is asked again and the id of the cluster goes to one of several.

    Args:
        earlier: EARLIER of the versions before.
        clusters: ``cluster_id``, ``answer_hash``, ``split`` and ``question_ids`` of the clusters of the new one.
        questions: ``question_id``, ``first_seen`` and ``last_seen`` of its questions.
        since: beginning of its log; None: unknown.
    """
    member_of, ids = (
        pick(clusters["question_ids"].combine_chunks()) for pick in (pc.list_parent_indices, pc.list_flatten)
    )
    first, before = _first_seen(earlier)
    seen = _earliest(_looked_up(ids, questions["question_id"], questions["first_seen"]), _looked_up(ids, first, before))
    of_cluster = {"split": "split", "answer_id": "answer_hash", "cluster_id": "cluster_id"}
    columns = {name: clusters[column].combine_chunks().take(member_of) for name, column in of_cluster.items()}
    members = with_nulls(EARLIER, {**columns, "question_id": ids, "first_seen": seen})
    new = members.set_column(
        EARLIER.names.index("oldest_seen"),
        EARLIER.field("oldest_seen"),
        _oldest_seen(members, earlier, questions, since),
    )
    replaced = pc.or_(
        pc.is_in(_pairs(earlier), value_set=_pairs(new)),
        pc.and_(pc.is_null(earlier["answer_id"]), pc.is_in(earlier["question_id"], value_set=ids)),
    )
    gone = _without_clusters(earlier.filter(pc.invert(replaced)), new["cluster_id"])
    whole = pa.concat_tables([new, gone])
    split = pc.index_in(whole["split"], value_set=pa.array(SPLITS)).to_numpy()
    answers = pc.fill_null(whole["answer_id"], 0).to_numpy()
    return whole.take(pa.array(np.lexsort((answers, whole["question_id"].to_numpy(), split))))


def forget(earlier: pa.Table, question_ids: pa.Array) -> pa.Table:
    """Return EARLIER without these questions, and without the ids of clusters that are named by them.

    A question can name a cluster of any answer, also without being a member.
    """
    left = earlier.filter(pc.invert(pc.is_in(earlier["question_id"], value_set=question_ids)))
    of_left = pa.array(_names(left.filter(pc.is_valid(left["answer_id"]))))
    unnamed = pc.and_(pc.is_valid(left["cluster_id"]), pc.invert(pc.is_in(left["cluster_id"], value_set=of_left)))
    answers, erased = left.filter(unnamed)["answer_id"].unique().to_numpy(), question_ids.unique().to_numpy()
    columns = {"answer_id": np.tile(answers, len(erased)), "question_id": np.repeat(erased, len(answers))}
    return _without_clusters(left, pa.array(_names(pa.table(columns))))


def _names(oldest: pa.Table) -> np.ndarray:
    """Return all ids that clusters with these oldest questions can have."""
    ids = ids_of(oldest)
    return np.concatenate([ids, *further_ids(ids)])


def ids_by_split(earlier: pa.Table) -> dict[str, np.ndarray]:
    """Return the ids of the questions of EARLIER by their split, ascending."""
    return {
        split: np.unique(earlier.filter(pc.equal(earlier["split"], split))["question_id"].to_numpy())
        for split in SPLITS
    }


def _without_clusters(earlier: pa.Table, clusters: pa.Array) -> pa.Table:
    """Return EARLIER without the ids of these clusters."""
    ids = pc.if_else(pc.is_in(earlier["cluster_id"], value_set=clusters), None, earlier["cluster_id"])
    return earlier.set_column(earlier.column_names.index("cluster_id"), EARLIER.field("cluster_id"), ids)


def _oldest_seen(
    members: pa.Table, earlier: pa.Table, questions: pa.Table, since: datetime.datetime | None
) -> pa.Array:
    """Return for each of the EARLIER rows ``members`` the last time of the question that names its cluster.

    A cluster that has an older question than that one inherited its id, and the time stays as it was. If that question
    is no member, for example as a stray, it counts as last seen when the log began.
    """
    clusters = members["cluster_id"].to_numpy()
    order = np.lexsort((members["question_id"].to_numpy(), clusters))
    oldest = members.take(pa.array(order[oldest_of(members, order, starts_of_runs(clusters[order]))]))
    names = oldest.filter(pa.array(ids_of(oldest) == oldest["cluster_id"].to_numpy()))
    last = _looked_up(names["question_id"], questions["question_id"], questions["last_seen"])
    before = _looked_up(members["cluster_id"], earlier["cluster_id"], earlier["oldest_seen"])
    beginning = pa.scalar(since, EARLIER.field("oldest_seen").type)
    return pc.coalesce(_looked_up(members["cluster_id"], names["cluster_id"], last), before, beginning)


def _first_seen(earlier: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Return the questions of EARLIER and the first time of each."""
    first = earlier.group_by("question_id", use_threads=False).aggregate([("first_seen", "min")])
    return first["question_id"].combine_chunks(), first["first_seen_min"].combine_chunks()


def _earliest(times: pa.Array | pa.ChunkedArray, others: pa.Array) -> pa.Array:
    """Return the earlier one of two times, the only one where one is null."""
    both = [pc.cast(part, pa.int64()) for part in (times, others)]  # Arrow compares no times with a zone
    return pc.min_element_wise(*both).cast(others.type)


def _looked_up(sought: pa.Array, keys: pa.Array, values: pa.Array) -> pa.Array:
    """Return the value of the first equal key for each of ``sought``, null where there is none."""
    whole = (part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in (sought, keys, values))
    asked, named, listed = whole
    return listed.take(pc.index_in(asked, value_set=named))


def _pairs(rows: pa.Table) -> pa.Array:
    """Return one number for each question and answer; of a row without an answer one for its question alone."""
    answers = pc.fill_null(rows["answer_id"], 0).to_numpy()
    return pa.array(mix(rows["question_id"].to_numpy(), 0).view(np.int64) + answers)
