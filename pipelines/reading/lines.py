"""The physical lines of a text file, unpacked, in bounded memory whatever the file holds.

Source -> physical_lines -> lists of bytes, about a megabyte each
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from pipelines.reading.sources import Compression, Source
from schemas import storage
from schemas.errors import QprError

MAX_ROW_BYTES: Final = 1 << 20
"""A longer row is rejected: no question is that long, and a file without line ends would fill the memory."""

_PIECE_BYTES: Final = 1 << 20
_GZIP_MAGIC: Final = b"\x1f\x8b"
_UTF8_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def physical_lines(source: Source) -> Iterator[list[bytes]]:
    r"""Yield all lines with their line ends, without the byte-order mark, in lists of about a megabyte.

    A line ends at ``\n`` alone. One longer than `MAX_ROW_BYTES` is cut to ``MAX_ROW_BYTES + 1`` bytes, so that its
    length tells; the rest of it is never held. The last line may lack its end.

    Raises:
        QprError: the file cannot be opened, is UTF-16, or its compressed data is broken anywhere.
    """
    rest = b""
    for piece in _pieces(source):
        lines = piece.split(b"\n")
        if len(lines) == 1:
            rest = _cut(rest + piece)
            continue
        lines[0] = rest + lines[0]
        rest = _cut(lines.pop())
        yield [_cut(line + b"\n") for line in lines]
    if rest:
        yield [rest]


def codec_of(start: bytes, source: Source) -> Compression | None:
    """Return how a file that begins with ``start`` is packed: what its name says, or gzip where the data says so.

    Raises:
        QprError: the name says gzip and the data does not.
    """
    codec = source.compression or ("gzip" if start.startswith(_GZIP_MAGIC) else None)
    if codec == "gzip" and not start.startswith(_GZIP_MAGIC[: len(start)]):
        raise QprError(f"{source.url}: is not gzip data, though its name ends so. Rename the file")
    return codec


def _cut(line: bytes) -> bytes:
    return line if len(line) <= MAX_ROW_BYTES else line[: MAX_ROW_BYTES + 1]


def _pieces(source: Source) -> Iterator[bytes]:
    """Yield the unpacked bytes; an error in the packed data names about how many lines came before it."""
    file_system, path = storage.locate(source.url)
    lines = 0
    with contextlib.ExitStack() as stack:
        with storage.explained(source.url):
            file = stack.enter_context(file_system.open(path, "rb"))
            start = file.read(3)
            file.seek(0)
        codec = codec_of(start, source)
        stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec) if codec else file
        first = True
        while piece := _read(stream, source=source, codec=codec, lines=lines):
            if first:
                piece = _without_mark(piece, source)
                first = False
            yield piece
            lines += piece.count(b"\n")


def _read(stream: Any, *, source: Source, codec: str | None, lines: int) -> bytes:
    if codec is None:
        with storage.explained(source.url):
            return bytes(stream.read(_PIECE_BYTES))
    try:
        return bytes(stream.read(_PIECE_BYTES))
    except OSError as error:  # Arrow checks lengths and checksums, and takes a file of several members
        cause = f"the {codec} data is broken after about row {lines:,} ({error})"
        raise QprError(f"{source.url}: {cause}; copy the file again") from error


def _without_mark(piece: bytes, source: Source) -> bytes:
    if piece.startswith(_UTF16_MARKS):
        raise QprError(f"{source.url}: is UTF-16 text. Convert it to UTF-8, such as with `iconv -f UTF-16 -t UTF-8`")
    return piece.removeprefix(_UTF8_MARK)
