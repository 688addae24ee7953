"""Estimates of the rows and the text of the inputs, without reading them.

Source of every file -> estimate_rows -> Estimate of every file; Source -> text_bytes -> bytes of its text
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from pipelines.reading.dialect import ExpectedColumns, rows_of
from pipelines.reading.lines import codec_of, physical_lines, text_of
from pipelines.reading.parquet import count_rows
from pipelines.reading.sources import Source
from schemas.artifacts import storage

SAMPLE_BYTES: Final = 1 << 22  # of a stored file
SAMPLE_FILES: Final = 8  # of one format and compression; of other files only the size is used
_PIECE_BYTES: Final = 1 << 14  # the read that fails at the end of a sample loses its piece

_PARQUET_EXPANSION: Final = 4.0
_UNPACKED_EXPANSION: Final = 5.0
"""Bytes of text in memory for each stored byte of a Parquet file, and of compressed text."""


class Estimate(NamedTuple):
    """Number of rows of a file; ``exact`` if they were counted."""

    rows: int
    exact: bool


def estimate_rows(sources: Sequence[Source]) -> list[Estimate]:
    """Return the number of rows that `pipelines.reading.reader.read` would find in each file, rejects included.

    Parquet files store it. Of text the first four megabytes of some files are counted; for the rest of a larger
    file and for other files of its kind the number of rows is assumed to be proportional to the stored bytes.

    Raises:
        QprError: a file cannot be read.
    """
    estimates = {source: Estimate(count_rows(source), exact=True) for source in sources if not source.is_text}
    kinds: dict[tuple[str, str | None], list[Source]] = {}
    for source in sources:
        if source not in estimates:
            kinds.setdefault((source.format, source.compression), []).append(source)
    for alike in kinds.values():
        sampled = {source: _sample(source) for source in alike[:: math.ceil(len(alike) / SAMPLE_FILES)]}
        a_byte = sum(e.rows for e in sampled.values()) / max(1, sum(s.bytes for s in sampled))
        estimates |= {source: Estimate(round(source.bytes * a_byte), exact=False) for source in alike} | sampled
    return [estimates[source] for source in sources]


def text_bytes(source: Source) -> float:
    """Return the estimated bytes of the text of a file, by its size alone: the same for the same file."""
    if source.compression:
        return _UNPACKED_EXPANSION * source.bytes
    return source.bytes if source.is_text else _PARQUET_EXPANSION * source.bytes


def _sample(source: Source) -> Estimate:
    """Return the estimate from the start of a file; exact if the file is not longer."""
    if source.bytes <= SAMPLE_BYTES:
        return Estimate(_count(source, (line for lines in physical_lines(source) for line in lines)), exact=True)
    stored = storage.read_start(source.location, SAMPLE_BYTES)
    text = b"".join(text_of(iter([_unpacked(stored, source)]), source))
    lines = [line + b"\n" for line in text.split(b"\n")[:-1]] or [text]  # the last line is incomplete
    rows = _count(source, lines) * len(text) / max(1, sum(map(len, lines)))
    return Estimate(max(1, round(rows * source.bytes / len(stored))), exact=False)


def _count(source: Source, lines: Iterable[bytes]) -> int:
    if source.format == "jsonl":
        return sum(1 for line in lines if line.strip())
    return max(0, sum(1 for _ in rows_of(iter(lines), source, ExpectedColumns()).records) - 1)


def _unpacked(stored: bytes, source: Source) -> bytes:
    """Return the unpacked first bytes of a file; their incomplete end is no error."""
    codec = codec_of(stored, source)
    if codec is None:
        return stored
    stream, pieces = pa.CompressedInputStream(pa.BufferReader(stored), codec), []
    try:
        while piece := stream.read(_PIECE_BYTES):
            pieces.append(piece)
    except OSError:
        pass
    return b"".join(pieces)
