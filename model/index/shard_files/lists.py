"""The bytes of inverted lists: codes one after the other, or in blocks that FAISS scans fast.

cursor, codes -> check_lists or check_block_lists -> nothing, or an error with the position
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from model.index.shard_files.cursor import Cursor
from schemas.quantities import counted

BLOCK: Final = 32
"""Codes of a block: of its halves of bytes a processor looks up 32 at a time."""

_ANY_SIZE: Final = 2**64 - 1
"""What FAISS writes where the size of a code depends on its place in a block."""

Parts = list[memoryview | bytes]


class Codes(NamedTuple):
    """Storage of a vector: bytes, and the type of its numbers if they may be not finite."""

    size: int
    numbers: str | None = None


def check_lists(cursor: Cursor, codes: Codes, *, lists: int, rows: int) -> None:
    """Read inverted lists; every row must be in exactly one.

    Raises:
        ValueError: a count does not fit, or a row is missing or stands twice.
    """
    cursor.letters("ilar")
    for what, expected in (("the number of lists", lists), ("the size of codes", codes.size)):
        cursor.expect(what, cursor.take("Q")[0], expected)
    sizes = _sizes(cursor, lists)
    if int(sizes.max(initial=0)) > rows or int(sizes.sum(dtype=np.uint64)) != rows:
        raise ValueError(f"before byte {cursor.place:,}: sizes of lists do not add up to {counted(rows, 'vector')}")
    cursor.need(rows * (codes.size + 8))  # an id has 8 bytes
    ids: Parts = []
    for size in sizes[sizes > 0].tolist():
        read_codes(cursor, codes, size)
        ids.append(_bytes(cursor, 8 * size))
    _check_rows(ids, rows)


def check_block_lists(cursor: Cursor, *, parts: int, lists: int, rows: int) -> None:
    """Read inverted lists of 4-bit codes in blocks of `BLOCK`; every row must be in exactly one.

    Args:
        cursor: before the lists.
        parts: numbers of a code, two of them a byte; an odd number is padded.
        lists: their number.
        rows: number of vectors in all of them.

    Raises:
        ValueError: a count does not fit, or a row is missing or stands twice.
    """
    block = BLOCK * ((parts + 1) // 2)
    cursor.letters("ilbl")
    stated = zip(("lists", "bytes of a code", "codes of a block", "bytes of a block"), cursor.take("QQQQ"), strict=True)
    for (what, number), expected in zip(stated, (lists, _ANY_SIZE, BLOCK, block), strict=True):
        cursor.expect(f"the number of {what}", number, expected)
    ids: Parts = []
    for _ in range(lists):
        [size] = cursor.take("Q")
        if size > rows:
            raise ValueError(f"before byte {cursor.place:,}: {counted(size, 'row')} in a list, of {rows:,}")
        ids.append(_bytes(cursor, 8 * size))
        used = block * -(-size // BLOCK)
        cursor.expect("the number of bytes of a list", cursor.take("Q")[0], used)
        _bytes(cursor, used)
    _check_rows(ids, rows)


def _bytes(cursor: Cursor, size: int) -> memoryview | bytes:
    """Return the next bytes."""
    cursor.need(size)
    cursor.place += size
    return cursor.content[cursor.place - size : cursor.place]


def _check_rows(ids: Parts, rows: int) -> None:
    numbers = np.frombuffer(b"".join(ids), "<u8")
    is_listed = np.zeros(min(rows, len(numbers)), bool)  # a count that is absurd would not fit into memory
    is_listed[numbers[numbers < len(is_listed)].astype(np.int64)] = True
    if len(numbers) != rows or not is_listed.all():
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


def read_codes(cursor: Cursor, codes: Codes, count: int) -> None:
    """Read the codes of vectors; those that are numbers must be finite."""
    cursor.need(count * codes.size)
    if codes.numbers is None:
        cursor.place += count * codes.size
        return
    kind = np.dtype(codes.numbers)
    cursor.numbers("vectors", count=count * codes.size // kind.itemsize, kind=codes.numbers)
