"""Walks through a large graph of codes as machine code, in half of FAISS's time.

opened graph -> compiled_walk -> Walk, or None where FAISS walks; vectors -> Walk.into -> distances, points
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import faiss
import numpy as np
from faiss import rev_swig_ptr, vector_to_array

from schemas.arrays import Bools, Int64s, Matrix
from schemas.compiled import first_call, load_loops

LOOPS: Final = "model.index.graphs.numba_kernels"

_VALUES: Final = 255
"""Steps between the least and the greatest value of a code of eight bits."""

SMALLEST: Final = 8 << 20
"""Minimum bytes of codes. With 256 a point, FAISS and compiled walks with 108 points in view take .10 and .10 ms for
10,000 points, .13 and .11 for 40,000, .17 and .12 for 80,000: smaller graphs are in the processor's cache."""

_A_THREAD: Final = 32
"""Fewest vectors for which a thread is begun: their walks take 3 ms, and to begin it .1."""

_NONE: Final = np.zeros(0, bool)
"""Mask for a search of all points: compiled functions take arrays, not None."""


@dataclasses.dataclass(frozen=True)
class Walk:
    """An opened graph for the compiled walk, which finds what FAISS finds, but for distances equal to 1e-6.

    Attributes:
        graph: FAISS's. Codes and links are views of the bytes that it was opened from, which must live as long.
        arrays: arguments of `numba_kernels.walk` from ``steps`` to ``highest``.
        zero: (dimension,) vector of a code of zeros.
        loop: the compiled function.
    """

    graph: Any
    arrays: tuple[Any, ...]
    zero: Matrix
    loop: Callable[..., None]

    def into(self, vectors: Matrix, in_view: int, live: Bools | None, distances: Matrix, points: Int64s) -> None:
        """Write the nearest points of each vector, in as many threads as FAISS would take in this one.

        Args:
            vectors: (n, dimension).
            in_view: number of points that a walk keeps in view.
            live: (points,) those that may be found; None: all.
            distances: (n, k) contiguous, overwritten; infinite where there are fewer.
            points: of the same shape, contiguous, overwritten; -1 where there are fewer.
        """
        moved, allowed = vectors - self.zero, _NONE if live is None else live

        def part(first: int, last: int) -> None:
            of_part = slice(first, last)
            self.loop(moved[of_part], *self.arrays, in_view, allowed, distances[of_part], points[of_part])

        threads = min(faiss.omp_get_max_threads(), len(vectors) // _A_THREAD)
        if threads < 2:
            part(0, len(vectors))
            return
        bounds = np.linspace(0, len(vectors), threads + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            for future in [pool.submit(part, *bound) for bound in itertools.pairwise(bounds)]:
                future.result()


def compiled_walk(graph: Any) -> Walk | None:
    """Return the compiled walk of a graph that has been opened and checked, after a first walk, which compiles it.

    None where there is no numba (extra `fast`) or it fails, which gives a warning, where codes have not eight bits a
    number, and where they are fewer than `SMALLEST` bytes.

    Args:
        graph: of FAISS, with a point or more.
    """
    codes: Any = faiss.downcast_index(graph.storage)
    points, dimension = graph.ntotal, graph.d
    if codes.sq.qtype != faiss.ScalarQuantizer.QT_8bit or points * dimension < SMALLEST:
        return None
    if (loops := load_loops(LOOPS, 1, 1)) is None:
        return None
    walk = Walk(graph, *_arrays(graph, codes, points, dimension), loops.walk)
    vector, distances, nearest = (
        np.zeros((1, dimension), np.float32),
        np.empty((1, 1), np.float32),
        np.empty((1, 1), np.int64),
    )
    return walk if first_call(lambda: walk.into(vector, 1, None, distances, nearest)) else None


def _arrays(graph: Any, codes: Any, points: int, dimension: int) -> tuple[tuple[Any, ...], Matrix]:
    """Return the fields ``arrays`` and ``zero`` of the walk of a graph."""
    hnsw = graph.hnsw
    least, spans = vector_to_array(codes.sq.trained).astype(np.float32).reshape(2, dimension)
    steps: Matrix = spans / np.float32(_VALUES)
    zero: Matrix = least + steps / np.float32(2)  # FAISS takes a code for the middle of its step
    arrays = (
        steps,
        rev_swig_ptr(codes.codes.data(), points * dimension).reshape(points, dimension),
        rev_swig_ptr(hnsw.neighbors.data(), hnsw.neighbors.size()),
        vector_to_array(hnsw.offsets).astype(np.int64),
        vector_to_array(hnsw.cum_nneighbor_per_level).astype(np.int64),
        hnsw.entry_point,
        hnsw.max_level,
    )
    return arrays, zero
