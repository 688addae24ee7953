"""The bytes of a shard, checked before FAISS reads them: FAISS trusts every count and opens file names in them.

bytes -> layout_of -> ShardLayout

FAISS writes the four letters of a class and then its fields, little-endian, with nested indexes in line
(faiss/impl/index_write.cpp). Only the classes that `model.index.shards` builds are accepted, each to its last byte.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.encoders.tensors import all_finite
from schemas.quantities import counted

MOST_BITS = 12
"""Maximum bits of a code of a product quantizer; `factory.POINTS_OF_A_CODE` questions train its values."""

_FLAT, _IVF_FLAT, _IVF_SQ, _IVF_PQ = "IxF2", "IwFl", "IwSq", "IwPQ"
_EUCLIDEAN = 1
_BITS_OF_SCALARS = {0: 8, 1: 4, 4: 16, 6: 6, 7: 16}
"""Bits a number, by FAISS's number of SQ8, SQ4, SQfp16, SQ6 and SQbf16."""

_HALF, _BRAIN = 4, 7
_BRAIN_FLOAT, _EXPONENT = "<u2", 0x7F80
"""The upper halves of 32-bit floats, and the bits that are all set in a number that is not finite."""

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


class _Cursor:
    """A position in the bytes of a shard that advances with every read."""

    def __init__(self, content: bytes | memoryview) -> None:
        self.content, self.place = content, 0

    def take(self, form: str) -> tuple[Any, ...]:
        size = struct.calcsize(f"<{form}")
        self._need(size)
        values = struct.unpack_from(f"<{form}", self.content, self.place)
        self.place += size
        return values

    def letters(self, *accepted: str) -> str:
        [found] = self.take("4s")
        name = bytes(found).decode("latin-1")
        if name not in accepted:
            raise ValueError(f"at byte {self.place - 4:,}: {name!a} where {' or '.join(accepted)} is wanted")
        return name

    def expect(self, what: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            raise ValueError(f"before byte {self.place:,}: {what} is {found:,}, not {wanted:,}")

    def vector(self, what: str, *, count: int, kind: str = "<f4") -> npt.NDArray[Any]:
        """Return a vector of ``count`` finite numbers that states its length."""
        [stated] = self.take("Q")
        self.expect(f"the number of {what}", stated, count)
        return self.numbers(what, count=count, kind=kind)

    def numbers(self, what: str, *, count: int, kind: str) -> npt.NDArray[Any]:
        self._need(count * np.dtype(kind).itemsize)
        found = np.frombuffer(self.content, kind, count, self.place)
        self.place += found.nbytes
        if not all_finite(found) or (kind == _BRAIN_FLOAT and ((found & _EXPONENT) == _EXPONENT).any()):
            raise ValueError(f"before byte {self.place:,}: {what} that are infinite or no numbers")
        return found

    def _need(self, size: int) -> None:
        if size > len(self.content) - self.place:
            raise ValueError(f"ends at byte {len(self.content):,}, {size:,} are wanted at byte {self.place:,}")


def layout_of(content: bytes | memoryview) -> ShardLayout:
    """Return the structure of a shard after a check of every count against the length.

    Raises:
        ValueError: it is no index that `model.index.shards` builds, or its parts do not fit together.
    """
    cursor = _Cursor(content)
    letters = cursor.letters(_FLAT, _IVF_FLAT, _IVF_SQ, _IVF_PQ)
    dimension, rows = _header(cursor)
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


def _header(cursor: _Cursor) -> tuple[int, int]:
    """Return the dimension and number of vectors of an index; two further numbers are unused."""
    dimension, rows, _, _, trained, metric = cursor.take("iqqqBi")
    if dimension < 1 or rows < 0:
        raise ValueError(f"before byte {cursor.place:,}: {counted(rows, 'vector')} of dimension {dimension:,}")
    cursor.expect("the mark of a trained index", trained, 1)
    cursor.expect("the metric", metric, _EUCLIDEAN)
    return dimension, rows


def _centroids(cursor: _Cursor, *, lists: int, dimension: int) -> None:
    cursor.letters(_FLAT)
    own_dimension, centroids = _header(cursor)
    cursor.expect("the dimension of centroids", own_dimension, dimension)
    cursor.expect("the number of centroids", centroids, lists)
    if not lists:
        raise ValueError(f"before byte {cursor.place:,}: no inverted list")
    cursor.vector("numbers of centroids", count=lists * dimension)


def _flat(_: _Cursor, dimension: int) -> _Codes:
    return _Codes(4 * dimension, "<f4")


def _scalars(cursor: _Cursor, dimension: int) -> _Codes:
    """Read a scalar quantizer."""
    kind, _, _, own_dimension, own_size = cursor.take("iifQQ")
    if kind not in _BITS_OF_SCALARS:
        raise ValueError(f"before byte {cursor.place:,}: a scalar quantizer of kind {kind}, which no shard has")
    size = (_BITS_OF_SCALARS[kind] * dimension + 7) // 8
    cursor.expect("the dimension of codes", own_dimension, dimension)
    cursor.expect("the size of codes", own_size, size)
    cursor.vector("trained numbers", count=2 * dimension if kind in _RANGED else 0)
    _residual(cursor, cursor.take("QB"), size)
    return _Codes(size, {_HALF: "<f2", _BRAIN: _BRAIN_FLOAT}.get(kind))


def _products(cursor: _Cursor, dimension: int) -> _Codes:
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


def _residual(cursor: _Cursor, found: tuple[Any, ...], size: int) -> None:
    stated, residual = found
    cursor.expect("the size of codes", stated, size)
    if residual not in (0, 1):
        raise ValueError(f"before byte {cursor.place:,}: {residual} where 0 or 1 marks residuals")


def _inverted_lists(cursor: _Cursor, codes: _Codes, *, lists: int, rows: int) -> None:
    """Read the lists; every row must be in exactly one."""
    cursor.letters("ilar")
    for what, wanted in (("the number of lists", lists), ("the size of codes", codes.size)):
        cursor.expect(what, cursor.take("Q")[0], wanted)
    sizes = _sizes(cursor, lists)
    if int(sizes.max(initial=0)) > rows or int(sizes.sum(dtype=np.uint64)) != rows:
        raise ValueError(f"before byte {cursor.place:,}: sizes of lists do not add up to {counted(rows, 'vector')}")
    cursor._need(rows * (codes.size + 8))
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


def _sizes(cursor: _Cursor, lists: int) -> npt.NDArray[np.uint64]:
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


def _vectors(cursor: _Cursor, codes: _Codes, count: int) -> None:
    """Skip the codes of vectors after a check that they are finite."""
    if codes.numbers is None:
        cursor.place += count * codes.size
        return
    kind = np.dtype(codes.numbers)
    cursor.numbers("vectors", count=count * codes.size // kind.itemsize, kind=codes.numbers)
