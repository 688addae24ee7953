"""The nearest others of each vector: found approximately by codes in groups, with exact distances.

flat shards, their groups, mask of the rows that are compared -> nearest_others -> distances, rows
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import faiss
import numpy as np

from model.index.arithmetic import matrix_products, one_thread
from model.index.factory import FLAT_BELOW, POINTS_OF_A_CODE, two_bit_codes
from model.index.linking.groups import Groups
from model.index.linking.vectors import Counted, blocks_of, exact_distances, vectors_at
from model.index.shards import Shard
from schemas.arrays import Bools, Int64s, Matrix

PROBES: Final = 16
"""Groups in which the nearest of a vector are sought, those with the nearest centroids."""

MOST_ERROR: Final = 0.4
"""Maximum mean squared error of codes, as a share of the mean squared distance of a vector from its centroid.

Quora's questions have .16, by MiniLM .12, simulated ones .17. Where a few groups lie far apart, codes differ between
groups and hardly inside of them: at .56 they find 97 % of the nearest, at 1.2 44 and at 10 one
(`benchmarks.retrieval.graphs.far_groups`)."""

_ROWS: Final = 8_192  # searched together; with another number products round in other ways, and others are found


def nearest_others(
    shards: Sequence[Shard], groups: Groups, compared: Bools, *, count: int, searched: Counted | None = None
) -> tuple[Matrix, Int64s]:
    """Return the nearest of each compared vector, in the order of their codes.

    Under `FLAT_BELOW` vectors all are compared with all. Of more, those in the `PROBES` nearest groups are, by codes of
    two bits a number. The result does not depend on the number of threads.

    Args:
        shards: flat; rows are numbered through all of them.
        groups: of their rows.
        compared: (rows,) mask of those that are searched for and found.
        count: number of the nearest, with the vector itself.
        searched: function that takes the number of rows that have been searched for.

    Returns:
        (rows, count) exact squared distances and rows; -1 where a row is not compared or has fewer.
    """
    distances = np.full((len(compared), count), np.inf, np.float32)
    rows = np.full((len(compared), count), -1, np.int64)
    row_of_place = np.flatnonzero(compared)
    blocks, threads = [*blocks_of(shards, _ROWS)], faiss.omp_get_max_threads()  # matrix products set it to one

    def search(first: int, block: Matrix) -> int:
        at = first + np.flatnonzero(compared[first : first + len(block)])
        if len(at):
            vectors = np.ascontiguousarray(block[at - first])
            with one_thread():
                places = index.search(vectors, min(count, len(row_of_place)))[1]
            near_rows = np.where(places < 0, -1, row_of_place[places])
            rows[at, : near_rows.shape[1]] = near_rows
            distances[at, : near_rows.shape[1]] = exact_distances(shards, vectors, near_rows)
        return len(block)

    searched_rows = 0
    with matrix_products():
        index = _trained(shards, groups, row_of_place)
        for first, block in blocks:
            index.add(block[compared[first : first + len(block)]])
        with ThreadPoolExecutor(threads) as pool:
            for ended in [pool.submit(search, *block) for block in blocks]:
                searched_rows += ended.result()
                if searched is not None:
                    searched(searched_rows)
    return distances, rows


def _trained(shards: Sequence[Shard], groups: Groups, rows: Int64s) -> Any:
    """Return an empty index of the vectors in some rows; a sample of these, evenly spread, trains its codes.

    They are codes of the vectors, or of the differences from the centroids where `MOST_ERROR` is exceeded. The search
    for those takes three times as long, since it has a table for each group instead of one.
    """
    dimension = shards[0].layout.dimension
    if len(rows) < FLAT_BELOW:
        return faiss.IndexFlatL2(dimension)
    sample = vectors_at(shards, rows[np.linspace(0, len(rows) - 1, min(len(rows), POINTS_OF_A_CODE)).astype(np.int64)])
    index = coded(groups, two_bit_codes(dimension), sample)
    if error_of_codes(index, sample) > MOST_ERROR:
        index = coded(groups, two_bit_codes(dimension) + "r", sample)
    index.nprobe = min(PROBES, len(groups.centroids))
    return index


def coded(groups: Groups, codes: str, sample: Matrix) -> Any:
    """Return an empty index of groups whose codes are trained by a sample."""
    index: Any = faiss.index_factory(sample.shape[1], f"IVF{len(groups.centroids)},{codes}")
    index.quantizer.add(groups.centroids)
    index.train(sample)
    return index


def error_of_codes(index: Any, sample: Matrix) -> float:
    """Return the squared error of the codes of a sample, as a share of their squared distance from the centroids."""
    from_centroids = float(index.quantizer.search(sample, 1)[0].sum())
    decoded = index.pq.decode(index.pq.compute_codes(sample))
    return float(((sample - decoded) ** 2).sum()) / max(from_centroids, 1e-9)  # all may be equal to their centroid
