"""The bytes of a shard, checked before FAISS reads them: FAISS trusts every count and opens file names in them.

bytes -> layout_of -> ShardLayout

FAISS writes the four letters of a class and then its fields, little-endian, with nested indexes in line
(faiss/impl/index_write.cpp). Only the classes that `model.index.shards` builds are accepted, each to its last byte.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.index.graph_format import check_graph
from model.index.shard_cursor import BRAIN_FLOAT, Cursor, read_header
from schemas.quantities import counted

MOST_BITS = 12
"""Maximum bits of a code of a product quantizer; `factory.POINTS_OF_A_CODE` questions train its values."""

_FLAT, _HNSW, _IVF_FLAT, _IVF_SQ, _IVF_PQ = "IxF2", "IHNf", "IwFl", "IwSq", "IwPQ"
_BITS_OF_SCALARS = {0: 8, 1: 4, 4: 16, 6: 6, 7: 16}
"""Bits a number, by FAISS's number of SQ8, SQ4, SQfp16, SQ6 and SQbf16."""

_HALF, _BRAIN = 4, 7
_RANGED = frozenset({0, 1, 6})
"""Those of them that hold two trained numbers a dimension."""


class ShardLayout(NamedTuple):
    """The structure of a shard.

    Attributes:
        encoding: of vectors, as in a factory: Flat, SQ or PQ.
        dimension: numbers a vector.
        rows: vectors.
        lists: inverted lists, 0 in a flat index.
        centroids: SHA-256 of the bytes of the index over the lists' centroids, empty in a flat index.
    """

    encoding: str
    dimension: int
    rows: int
    lists: int
    centroids: str


class _Codes(NamedTuple):
    """Storage of a vector: bytes, and the type of its numbers if they may be not finite."""

    size: int
    numbers: str | None = None


def layout_of(content: bytes | memoryview) -> ShardLayout:
    """Return the structure of a shard after a check of every count against the length.

    Raises:
        ValueError: it is no index that `model.index.shards` builds, or its parts do not fit together.
    """
    cursor = Cursor(content)
    letters = cursor.letters(_FLAT, _IVF_FLAT, _IVF_SQ, _IVF_PQ)
    dimension, rows = read_header(cursor)
    if letters == _FLAT:
        cursor.vector("numbers", count=rows * dimension)
        layout = ShardLayout("Flat", dimension, rows, 0, "")
    else:
        lists, _ = cursor.take("QQ")
        start = cursor.place
        _centroids(cursor, lists=lists, dimension=dimension)
        centroids = hashlib.sha256(content[start : cursor.place]).hexdigest()
        if cursor.take("bQ") != (0, 0):
            raise ValueError("holds a direct map, which no shard has")
        codes = {_IVF_FLAT: _flat, _IVF_SQ: _scalars, _IVF_PQ: _products}[letters](cursor, dimension)
        _inverted_lists(cursor, codes, lists=lists, rows=rows)
        encoding = {_IVF_FLAT: "Flat", _IVF_SQ: "SQ", _IVF_PQ: "PQ"}[letters]
        layout = ShardLayout(encoding, dimension, rows, lists, centroids)
    cursor.expect("the length in bytes", len(content), cursor.place)
    return layout


def _centroids(cursor: Cursor, *, lists: int, dimension: int) -> None:
    """Read the index over the centroids: flat, or a graph above a flat one."""
    letters = cursor.letters(_FLAT, _HNSW)
    if not lists:
        raise ValueError(f"before byte {cursor.place:,}: no inverted list")
    _centroid_counts(cursor, lists=lists, dimension=dimension)
    if letters == _HNSW:
        check_graph(cursor, points=lists)
        cursor.letters(_FLAT)
        _centroid_counts(cursor, lists=lists, dimension=dimension)
    cursor.vector("numbers of centroids", count=lists * dimension)


def _centroid_counts(cursor: Cursor, *, lists: int, dimension: int) -> None:
    own_dimension, centroids = read_header(cursor)
    cursor.expect("the dimension of centroids", own_dimension, dimension)
    cursor.expect("the number of centroids", centroids, lists)


def _flat(_: Cursor, dimension: int) -> _Codes:
    return _Codes(4 * dimension, "<f4")


def _scalars(cursor: Cursor, dimension: int) -> _Codes:
    """Read a scalar quantizer."""
    kind, _, _, own_dimension, own_size = cursor.take("iifQQ")
    if kind not in _BITS_OF_SCALARS:
        raise ValueError(f"before byte {cursor.place:,}: a scalar quantizer of kind {kind}, which no shard has")
    size = (_BITS_OF_SCALARS[kind] * dimension + 7) // 8
    cursor.expect("the dimension of codes", own_dimension, dimension)
    cursor.expect("the size of codes", own_size, size)
    cursor.vector("trained numbers", count=2 * dimension if kind in _RANGED else 0)
    _residual(cursor, cursor.take("QB"), size)
    return _Codes(size, {_HALF: "<f2", _BRAIN: BRAIN_FLOAT}.get(kind))


def _products(cursor: Cursor, dimension: int) -> _Codes:
    """Read a product quantizer."""
    residual, stated, own_dimension, parts, bits = cursor.take("BQQQQ")
    cursor.expect("the dimension of codes", own_dimension, dimension)
    if not 1 <= bits <= MOST_BITS or not 1 <= parts <= dimension or dimension % parts:
        raise ValueError(
            f"before byte {cursor.place:,}: a product quantizer of {counted(parts, 'part')} of {counted(bits, 'bit')}"
        )
    size = (parts * bits + 7) // 8
    _residual(cursor, (stated, residual), size)
    cursor.vector("numbers of a product quantizer", count=dimension * 2**bits)
    return _Codes(size)


def _residual(cursor: Cursor, found: tuple[Any, ...], size: int) -> None:
    stated, residual = found
    cursor.expect("the size of codes", stated, size)
    if residual not in (0, 1):
        raise ValueError(f"before byte {cursor.place:,}: {residual} where 0 or 1 marks residuals")


def _inverted_lists(cursor: Cursor, codes: _Codes, *, lists: int, rows: int) -> None:
    """Read the lists; every row must be in exactly one."""
    cursor.letters("ilar")
    for what, wanted in (("the number of lists", lists), ("the size of codes", codes.size)):
        cursor.expect(what, cursor.take("Q")[0], wanted)
    sizes = _sizes(cursor, lists)
    if int(sizes.max(initial=0)) > rows or int(sizes.sum(dtype=np.uint64)) != rows:
        raise ValueError(f"before byte {cursor.place:,}: sizes of lists do not add up to {counted(rows, 'vector')}")
    cursor.need(rows * (codes.size + 8))
    ids = []
    for size in sizes[sizes > 0].tolist():
        _vectors(cursor, codes, size)
        ids.append(cursor.content[cursor.place : cursor.place + 8 * size])
        cursor.place += 8 * size
    numbers = np.frombuffer(b"".join(ids), "<u8")
    seen = np.zeros(rows, bool)
    seen[numbers[numbers < rows].astype(np.int64)] = True
    if not seen.all():
        raise ValueError(f"lists that do not hold each of the rows 0 to {rows - 1:,} once")


def _sizes(cursor: Cursor, lists: int) -> npt.NDArray[np.uint64]:
    """Return the sizes of lists: of all, or of the non-empty ones with their numbers."""
    if cursor.letters("full", "sprs") == "full":
        return cursor.vector("sizes of lists", count=lists, kind="<u8")
    [stated] = cursor.take("Q")
    if stated % 2 or stated > 2 * lists:
        raise ValueError(
            f"before byte {cursor.place:,}: {counted(stated, 'value')} to describe {counted(lists, 'list')}"
        )
    pairs = cursor.numbers("sizes of lists", count=stated, kind="<u8").reshape(-1, 2)
    if (pairs[:, 0] >= lists).any() or (pairs[1:, 0] <= pairs[:-1, 0]).any():
        raise ValueError(f"before byte {cursor.place:,}: numbers of lists that do not ascend below {lists:,}")
    return pairs[:, 1]


def _vectors(cursor: Cursor, codes: _Codes, count: int) -> None:
    """Skip the codes of vectors after a check that they are finite."""
    if codes.numbers is None:
        cursor.place += count * codes.size
        return
    kind = np.dtype(codes.numbers)
    cursor.numbers("vectors", count=count * codes.size // kind.itemsize, kind=codes.numbers)
