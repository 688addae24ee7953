"""FAISS shards: training, building and opening.

sample -> train -> trained index -> build_shard(vectors) -> bytes -> open_shard
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
from collections.abc import Iterable
from typing import Any, cast

import faiss
import numpy as np
from faiss import rev_swig_ptr, swig_ptr

from model.index.arithmetic import matrix_products, measure_each_pair, one_thread
from model.index.factory import check_questions, factory_of_codes, is_graph, lists_of
from model.index.graphs.order import graph_in, rows_of_points
from model.index.graphs.walk import Walk
from model.index.shard_files.graph import SEARCHED
from model.index.shard_files.layout import ShardLayout, layout_of
from schemas.arrays import Bools, Int64s, Matrix
from schemas.errors import UsageError
from schemas.quantities import counted

_ITERATIONS_SEED = 1234
"""Seed of k-means, on which the bytes of an index depend: FAISS's default, whatever a later release has."""

FEW = 0.25
"""Share of live rows of a flat shard up to which they are listed, instead of a test of each row of the shard."""

_IN_VIEW = 160
"""Points of the upper levels of a graph that are kept in view to link a new one to the nearest of them."""


@dataclasses.dataclass(frozen=True)
class Shard:
    """An opened FAISS index whose vectors are views of ``content``, which must live as long.

    Attributes:
        faiss: a flat index or an inverted-file index, whose row i has id i, or a graph.
        content: its bytes.
        reader: FAISS's reader of them.
        layout: their structure.
        live: (rows,) mask of the rows that a search may return; None where it may return all.
        row_of_point: (rows,) row of each point of a graph; None where they are equal.
        walk: compiled, of a graph; None where FAISS walks.
    """

    faiss: Any
    content: bytes | memoryview
    reader: Any
    layout: ShardLayout
    live: Bools | None = None
    row_of_point: Int64s | None = None
    walk: Walk | None = None

    def __len__(self) -> int:
        return self.layout.rows

    @property
    def mask(self) -> Bools:
        """Return ``live`` of every row, also where a search may return all."""
        return np.ones(len(self), bool) if self.live is None else self.live

    def within(self, mask: Bools) -> Shard:
        """Return the same shard, of which a search returns no other rows than these."""
        return dataclasses.replace(self, live=mask if self.live is None else mask & self.live)

    @functools.cached_property
    def parameters(self) -> Any:
        """Return FAISS's parameters of a search of the live rows, None where all are live and there is no graph."""
        if self.live is None and not self.layout.graph:
            return None
        library: Any = faiss  # its stubs lack the arguments
        kind = "HNSW" if self.layout.graph else "IVF" if self.lists else ""
        of_kind = getattr(library, f"SearchParameters{kind}")
        if self.live is None or self.walk is not None:
            return of_kind()
        live = np.packbits(self._by_point(self.live), bitorder="little")
        return of_kind(sel=library.IDSelectorBitmap(live))

    @functools.cached_property
    def live_points(self) -> Bools | None:
        """Return ``live`` in the order of the points of a graph, for its walk; None where a search may return all."""
        return None if self.live is None else self._by_point(self.live)

    def _by_point(self, rows: Bools) -> Bools:
        """Return a mask of rows in the order of the points of a graph."""
        return rows if self.row_of_point is None else rows[self.row_of_point]

    @property
    def lists(self) -> int:
        """Return the number of inverted lists, 0 for a flat index or a graph."""
        return self.layout.lists

    @property
    def is_flat(self) -> bool:
        """Return whether the shard stores float32 vectors one after the other."""
        return not self.lists and not self.layout.graph

    @functools.cached_property
    def vectors(self) -> Matrix:
        """Return the vectors of a flat shard in order of its rows, (rows, dimension), without a copy."""
        numbers: Any = rev_swig_ptr(self.faiss.get_xb(), len(self) * self.layout.dimension)
        return cast("Matrix", numbers.reshape(-1, self.layout.dimension))

    @functools.cached_property
    def few_rows(self) -> Int64s | None:
        """Return the live rows of a flat shard where they are few; None where it is faster to go through all rows."""
        if not self.is_flat or self.live is None or np.count_nonzero(self.live) > FEW * len(self):
            return None
        return np.flatnonzero(self.live)

    @functools.cached_property
    def _centroids(self) -> Any:
        """Return the flat index over the centroids, also of a quantizer that is a graph."""
        return getattr(faiss.downcast_index(self.faiss.quantizer), "storage", self.faiss.quantizer)

    def nearest_lists(self, vectors: Matrix, probes: int) -> tuple[Matrix, Int64s]:
        """Return distances and numbers of the lists nearest to each vector; all lists in order without a graph.

        Args:
            vectors: (n, dimension), contiguous.
            probes: number of lists. A graph may find fewer; the rest is -1, which FAISS skips.
        """
        distances, numbers = np.empty((len(vectors), probes), np.float32), np.empty((len(vectors), probes), np.int64)
        quantizer = self.faiss.quantizer if probes < self.lists else self._centroids
        quantizer.search_c(len(vectors), swig_ptr(vectors), probes, swig_ptr(distances), swig_ptr(numbers))
        return distances, numbers


def new_index(factory: str, dimension: int) -> Any:
    """Return an empty, untrained index, without the exact vectors that refine codes.

    Raises:
        UsageError: FAISS cannot build it for this dimension, or `checked_factory` rejects it.
    """
    lists_of(factory)
    try:
        return faiss.index_factory(dimension, factory_of_codes(factory))
    except RuntimeError as error:
        cause = str(error).split(": ")[-1].strip()
        raise UsageError(
            f"--factory {factory[:60]}: FAISS cannot build it for {counted(dimension, 'dimension')}: {cause}. Change it"
        ) from error


def train(factory: str, sample: Matrix) -> bytes:
    """Return an empty index trained on ``sample``, serialised: the centroids that all shards share.

    Args:
        factory: a string that `new_index` accepts.
        sample: (questions, dimension) vectors in a fixed order; the result depends only on these.

    Raises:
        QprError: there are too few vectors for the lists or codes.
    """
    check_questions(factory, len(sample))
    index = new_index(factory, sample.shape[1])
    sample = np.ascontiguousarray(sample)
    with matrix_products():
        if lists_of(factory):
            index.cp.seed = _ITERATIONS_SEED
            if hasattr(index, "pq"):
                index.pq.cp.min_points_per_centroid = 1  # else it warns on stderr, once for each of its parts
            if "_HNSW" in factory:
                _add_graph(index, sample)
        elif is_graph(factory):
            index.hnsw.efConstruction = _IN_VIEW
        index.train(sample)
    return bytes(faiss.serialize_index(index).tobytes())


def _add_graph(index: Any, sample: Matrix) -> None:
    """Fill a quantizer that is a graph with the centroids that a flat one would have, linked in one thread."""
    quantizer: Any = faiss.downcast_index(index.quantizer)
    centroids = faiss.IndexFlatL2(sample.shape[1])
    clustering = faiss.Clustering(sample.shape[1], index.nlist, index.cp)
    clustering.train(sample, centroids)
    with one_thread():
        quantizer.add(centroids.reconstruct_n(0, index.nlist))
    quantizer.hnsw.efSearch = SEARCHED


def build_shard(trained: bytes, vectors: Matrix | Iterable[Matrix], *, same_parts: bool = False) -> bytes:
    """Return the index without a graph that holds ``vectors`` as rows 0, 1, …, serialised.

    Args:
        trained: the result of `train`.
        vectors: (questions, dimension), in the order of their ids so that equal distances rank by id; or parts of it.
            The bytes do not depend on the parts, but with ``same_parts``.
        same_parts: the parts are always the same, so that matrix products, which are faster, give equal bytes too.
    """
    measure_each_pair()
    index: Any = faiss.deserialize_index(np.frombuffer(trained, np.uint8))
    with matrix_products() if same_parts else contextlib.nullcontext():
        for part in [vectors] if isinstance(vectors, np.ndarray) else vectors:
            index.add(np.ascontiguousarray(part))
    return serialised(index)


def serialised(index: Any) -> bytes:
    """Return the bytes of an index of FAISS."""
    file = io.BytesIO()  # its value is not copied; FAISS's `serialize_index` holds three copies
    writer = faiss.PyCallbackIOWriter(file.write)  # type: ignore[attr-defined]  # not in FAISS's stubs
    faiss.write_index(index, writer)
    del writer  # it writes the rest of its buffer
    return file.getvalue()


def emptied(content: bytes | memoryview) -> bytes:
    """Return a shard without its vectors, serialised: the result of `train` that it was built from."""
    index = graph_in(faiss.deserialize_index(np.frombuffer(content, np.uint8)))
    index.reset()
    return bytes(faiss.serialize_index(index).tobytes())


def open_shard(content: bytes | memoryview, layout: ShardLayout | None = None) -> Shard:
    """Open a shard from bytes, after a check for damage, which FAISS does not make.

    Nothing is copied: 640 MB open in 10 ms instead of 2.5 s.

    Args:
        content: the bytes, which may be mapped memory.
        layout: that `layout_of` returned for the very same bytes; None: they are checked now.

    Raises:
        ValueError: they are not a result of `build_shard`.
    """
    measure_each_pair()
    layout = layout or layout_of(content)
    reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(np.frombuffer(content, np.uint8)), len(content))  # type: ignore[attr-defined]  # not in FAISS's stubs
    index = faiss.read_index(reader, faiss.IO_FLAG_MMAP_IFC)
    return Shard(graph_in(index), content, reader, layout, row_of_point=rows_of_points(index))
