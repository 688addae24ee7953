"""Segments of an index: the shards that one run added, and the rows that later runs deleted.

files of a manifest -> in_order -> files of the first segment, then of the later ones; tombstones -> deleted_rows

A segment never changes. The first lies in the folder of its run, segment n in ``segments/000n`` there, so that an index
has the same names of files whenever its runs took place. A row that was deleted or replaced stays in its shard and gets
a tombstone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import numpy as np

from schemas.arrays import Bools
from schemas.artifacts.manifest import File
from schemas.quantities import counted

FLAT_SEGMENT_BELOW = 5_000
"""Under this many questions a later segment is flat: it is searched exactly in under 1 ms, and lists would be short."""


_NUMBER = re.compile(r"/segments/([0-9]{4,9})/[^/]+/[^/]+")


def folder_of(segment: int) -> str:
    """Return the folder of a segment's tables in the folder of its run; empty for the first segment, number 0."""
    return f"segments/{segment:04d}" if segment else ""


def segment_of(path: str) -> int:
    """Return the number of the segment that a file of shards or ids belongs to, by its path."""
    match = _NUMBER.search(path)
    return int(match[1]) if match else 0


def place_of(path: str) -> tuple[int, str]:
    """Return segment and number of a shard, which its two files have in common."""
    return segment_of(path), PurePosixPath(path).stem


def in_order(files: Iterable[File]) -> list[File]:
    """Return files of shards or ids in the order of their rows."""
    return sorted(files, key=lambda file: (place_of(file.path), file.path))


def tombstones(deleted: Sequence[Bools]) -> bytes:
    """Return the masks of the deleted rows of each shard as bits, each shard from a byte of its own."""
    return b"".join(np.packbits(mask, bitorder="little").tobytes() for mask in deleted)


def deleted_rows(content: bytes | memoryview, counts: Sequence[int], *, deleted: int) -> list[Bools]:
    """Return the mask of the deleted rows of each shard.

    Args:
        content: made by `tombstones`.
        counts: rows of each shard.
        deleted: number of tombstones.

    Raises:
        ValueError: they do not fit each other.
    """
    sizes = [(count + 7) // 8 for count in counts]
    if len(content) != sum(sizes):
        raise ValueError(f"holds {len(content):,} bytes, {sum(sizes):,} are expected")
    masks, start = [], 0
    for count, size in zip(counts, sizes, strict=True):
        bits = np.frombuffer(content, np.uint8, size, start)
        masks.append(np.unpackbits(bits, count=count, bitorder="little").view(bool))
        if tombstones(masks[-1:]) != bits.tobytes():
            raise ValueError("has bits beyond the rows")
        start += size
    if (total := sum(int(np.count_nonzero(mask)) for mask in masks)) != deleted:
        raise ValueError(f"holds {counted(total, 'deleted row')}, the manifest lists {deleted:,}")
    return masks
