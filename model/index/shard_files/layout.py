"""The bytes of a shard, checked before FAISS reads them: FAISS trusts every count and opens file names in them.

bytes -> layout_of -> ShardLayout

FAISS writes the four letters of a class and then its fields, little-endian, with nested indexes in line
(faiss/impl/index_write.cpp). Only the classes that `model.index.shards` builds are accepted, each to its last byte.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from model.index.shard_files.cursor import BRAIN_FLOAT, Cursor, read_header
from model.index.shard_files.graph import check_graph
from model.index.shard_files.lists import BLOCK, Codes, check_block_lists, check_lists, read_codes
from schemas.quantities import counted

_FAST_BITS = 4
"""Bits of a part of a code that FAISS scans fast."""

MOST_BITS = 12
"""Maximum bits of a code of a product quantizer; `factory.POINTS_OF_A_CODE` questions train its values."""

_FLAT, _HNSW = "IxF2", "IHNf"
_GRAPH, _SCALARS, _MAPPED = "IHNs", "IxSQ", "IxMp"
_IVF_FLAT, _IVF_SQ, _IVF_PQ, _IVF_FAST = "IwFl", "IwSq", "IwPQ", "IwPf"
_LISTED = {_IVF_FLAT: "Flat", _IVF_SQ: "SQ", _IVF_PQ: "PQ", _IVF_FAST: "PQ"}
"""Encoding of vectors by the class of an index of inverted lists."""

_BITS_OF_SCALARS = {0: 8, 1: 4, 4: 16, 6: 6, 7: 16}
"""Bits a number, by FAISS's number of SQ8, SQ4, SQfp16, SQ6 and SQbf16."""

_HALF, _BRAIN = 4, 7
"""FAISS's numbers of SQfp16 and SQbf16."""

_RANGED = frozenset({0, 1, 6})
"""Those of them that hold two trained numbers a dimension."""


class ShardLayout(NamedTuple):
    """The structure of a shard.

    Attributes:
        encoding: of vectors, as in a factory: Flat, SQ or PQ.
        dimension: numbers a vector.
        rows: vectors.
        lists: inverted lists, 0 in a flat index or a graph.
        centroids: SHA-256 of the bytes of the index over the lists' centroids, empty without lists.
        graph: whether the vectors are the points of a graph.
    """

    encoding: str
    dimension: int
    rows: int
    lists: int
    centroids: str
    graph: bool = False


def layout_of(content: bytes | memoryview) -> ShardLayout:
    """Return the structure of a shard after a check of every count against the length.

    Raises:
        ValueError: it is no index that `model.index.shards` builds, or its parts do not fit together.
    """
    cursor = Cursor(content)
    letters = cursor.letters(_FLAT, _GRAPH, _MAPPED, *_LISTED)
    dimension, rows = read_header(cursor)
    if letters == _FLAT:
        cursor.vector("numbers", count=rows * dimension)
        layout = ShardLayout("Flat", dimension, rows, 0, "")
    elif letters in (_GRAPH, _MAPPED):
        (_graph if letters == _GRAPH else _mapped_graph)(cursor, dimension=dimension, rows=rows)
        layout = ShardLayout("SQ", dimension, rows, 0, "", graph=True)
    else:
        layout = _listed(cursor, letters, dimension=dimension, rows=rows)
    cursor.expect("the length in bytes", len(content), cursor.place)
    return layout


def _graph(cursor: Cursor, *, dimension: int, rows: int) -> None:
    """Read a graph of codes after its header."""
    check_graph(cursor, points=rows)
    cursor.letters(_SCALARS)
    _expect_header(cursor, "codes", dimension=dimension, count=rows)
    codes = _scalar_codes(cursor, dimension)
    cursor.expect("the number of bytes of codes", cursor.take("Q")[0], rows * codes.size)
    read_codes(cursor, codes, rows)


def _mapped_graph(cursor: Cursor, *, dimension: int, rows: int) -> None:
    """Read a graph of codes and the rows of its points after their header."""
    cursor.letters(_GRAPH)
    _expect_header(cursor, "points", dimension=dimension, count=rows)
    _graph(cursor, dimension=dimension, rows=rows)
    of_points = cursor.vector("rows of points", count=rows, kind="<i8")
    if rows and (of_points.min() < 0 or of_points.max() >= rows or np.bincount(of_points, minlength=rows).max() > 1):
        raise ValueError(
            f"before byte {cursor.place:,}: rows of points that are not each of {counted(rows, 'row')} once"
        )


def _listed(cursor: Cursor, letters: str, *, dimension: int, rows: int) -> ShardLayout:
    """Read an index of inverted lists after its header."""
    lists, _ = cursor.take("QQ")
    start = cursor.place
    _centroids(cursor, lists=lists, dimension=dimension)
    centroids = hashlib.sha256(cursor.content[start : cursor.place]).hexdigest()
    if cursor.take("bQ") != (0, 0):
        raise ValueError("holds a direct map, which no shard has")
    if letters == _IVF_FAST:
        check_block_lists(cursor, parts=_fast_products(cursor, dimension), lists=lists, rows=rows)
        return ShardLayout("PQ", dimension, rows, lists, centroids)
    codes = {_IVF_FLAT: _flat, _IVF_SQ: _scalars, _IVF_PQ: _products}[letters](cursor, dimension)
    check_lists(cursor, codes, lists=lists, rows=rows)
    return ShardLayout(_LISTED[letters], dimension, rows, lists, centroids)


def _centroids(cursor: Cursor, *, lists: int, dimension: int) -> None:
    """Read the index over the centroids: flat, or a graph above a flat one."""
    letters = cursor.letters(_FLAT, _HNSW)
    if not lists:
        raise ValueError(f"before byte {cursor.place:,}: no inverted list")
    _expect_header(cursor, "centroids", dimension=dimension, count=lists)
    if letters == _HNSW:
        check_graph(cursor, points=lists)
        cursor.letters(_FLAT)
        _expect_header(cursor, "centroids", dimension=dimension, count=lists)
    cursor.vector("numbers of centroids", count=lists * dimension)


def _expect_header(cursor: Cursor, vectors: str, *, dimension: int, count: int) -> None:
    """Read the header of an index inside of another one, whose vectors are of the given kind."""
    own_dimension, own_count = read_header(cursor)
    cursor.expect(f"the dimension of {vectors}", own_dimension, dimension)
    cursor.expect(f"the number of {vectors}", own_count, count)


def _flat(_: Cursor, dimension: int) -> Codes:
    return Codes(4 * dimension, "<f4")


def _scalars(cursor: Cursor, dimension: int) -> Codes:
    """Read a scalar quantizer of inverted lists."""
    codes = _scalar_codes(cursor, dimension)
    _residual(cursor, cursor.take("QB"), codes.size)
    return codes


def _scalar_codes(cursor: Cursor, dimension: int) -> Codes:
    """Read a scalar quantizer."""
    kind, _, _, own_dimension, own_size = cursor.take("iifQQ")
    if kind not in _BITS_OF_SCALARS:
        raise ValueError(f"before byte {cursor.place:,}: a scalar quantizer of kind {kind}, which no shard has")
    size = (_BITS_OF_SCALARS[kind] * dimension + 7) // 8
    cursor.expect("the dimension of codes", own_dimension, dimension)
    cursor.expect("the size of codes", own_size, size)
    cursor.vector("trained numbers", count=2 * dimension if kind in _RANGED else 0)
    return Codes(size, {_HALF: "<f2", _BRAIN: BRAIN_FLOAT}.get(kind))


def _products(cursor: Cursor, dimension: int) -> Codes:
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
    return Codes(size)


def _fast_products(cursor: Cursor, dimension: int) -> int:
    """Read a product quantizer of 4 bits a part; return the number of parts."""
    residual, size, block, even, way, batch = cursor.take("bQiQiQ")
    own_dimension, parts, bits = cursor.take("QQQ")
    cursor.expect("the dimension of codes", own_dimension, dimension)
    if bits != _FAST_BITS or not 1 <= parts <= dimension or dimension % parts:
        raise ValueError(
            f"before byte {cursor.place:,}: a product quantizer of {counted(parts, 'part')} of {counted(bits, 'bit')}"
        )
    if (residual, size, block, even, way, batch) != (0, (parts + 1) // 2, BLOCK, parts + parts % 2, 0, 0):
        raise ValueError(f"before byte {cursor.place:,}: codes that are scanned in a way that no shard has")
    cursor.vector("numbers of a product quantizer", count=dimension * 2**_FAST_BITS)
    return int(parts)


def _residual(cursor: Cursor, fields: tuple[Any, ...], size: int) -> None:
    stated, residual = fields
    cursor.expect("the size of codes", stated, size)
    if residual not in (0, 1):
        raise ValueError(f"before byte {cursor.place:,}: {residual} where 0 or 1 marks residuals")
