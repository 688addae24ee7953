"""Physical lines of a text file, unpacked, in bounded memory whatever the file contains.

Source -> physical_lines -> lists of bytes, about a megabyte each
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import itertools
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from pipelines.reading.encodings import START_BYTES, utf8_pieces
from pipelines.reading.sources import EXPORT_TABLE, WRITE_ROWS, Compression, Source
from schemas.artifacts import storage
from schemas.errors import QprError

MAX_ROW_BYTES: Final = 1 << 20
"""Maximum length of a row: no question is that long, and a file without line ends would fill the memory."""

_PIECE_BYTES: Final = 1 << 20
"""Maximum number of unpacked bytes that are read at a time."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_MAGIC: Final[dict[bytes, Compression]] = {_GZIP_MAGIC: "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_OTHER_FORMATS: Final = {
    b"PAR1\x15": "a Parquet file. Rename it so that its name ends in .parquet",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook. Unpack it, or save the sheet as CSV UTF-8",
    b"SQLite format 3\0": f"an SQLite database. {EXPORT_TABLE}",
    b"BZh91AY&SY": "bzip2 data. Unpack it, or pack it with gzip",
    b"\xfd7zX": "xz data. Unpack it, or pack it with gzip",
    b"\xd0\xcf\x11\xe0": "an Excel workbook. Save the sheet as CSV UTF-8",
    b"Obj\x01": f"an Avro file. {WRITE_ROWS}",
    b"ARROW1\0\0": f"an Arrow file. {WRITE_ROWS}",
}
_PAGE: Final = "an HTML page. Download the file again, or open a table in a spreadsheet and save it as CSV UTF-8"
_MARKUP: Final = {b"<?xml": f"XML. {WRITE_ROWS}", b"<!doctype html": _PAGE, b"<html": _PAGE}
"""Beginnings of text, in lower case, that no log has."""

_MARKUP_BYTES: Final = 256
"""Number of first bytes, leading blanks included, in which a file shows one of these beginnings."""


def physical_lines(source: Source) -> Iterator[list[bytes]]:
    r"""Yield all lines with their line ends, without the byte-order mark, in lists of about a megabyte.

    A line ends at ``\n`` alone. One longer than `MAX_ROW_BYTES` is cut to ``MAX_ROW_BYTES + 1`` bytes, by which
    readers recognize it; the rest of it is never held. The last line may lack its end.

    Raises:
        QprError: the file cannot be opened, is not text, or its compressed data is damaged.
    """
    yield from lines_of(text_of(_pieces(source), source))


def digest_text(source: Source, *, most: int | None = None) -> str:
    """Return the SHA-256 of a file's text as UTF-8, without the line ends at its end.

    A packed file has the digest of the plain one.

    Args:
        source: a file of text.
        most: bytes to read at most; those of equal files have equal digests too. None: all.

    Raises:
        QprError: as for `physical_lines`.
    """
    digest = hashlib.sha256()
    ended = digest.copy()
    left = most
    for lines in physical_lines(source):
        text = b"".join(lines)[:left]
        body = text.rstrip(b"\r\n")
        digest.update(body)
        if body:
            ended = digest.copy()
        digest.update(text[len(body) :])
        if left is not None and not (left := left - len(text)):
            break
    return ended.hexdigest()


def text_of(pieces: Iterator[bytes], source: Source) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file as UTF-8, without a byte-order mark.

    Raises:
        QprError: they are another format than text.
    """
    gathered: list[bytes] = []
    while sum(map(len, gathered)) < START_BYTES and (piece := next(pieces, b"")):
        gathered.append(piece)
    first = b"".join(gathered)
    _refuse_other_formats(first, source)
    return utf8_pieces(itertools.chain([first], pieces), encoding=source.encoding, url=source.url)


def is_utf8(source: Source) -> bool:
    """Return whether the first `START_BYTES` of a file without a mark are UTF-8 with characters beyond ASCII.

    Text in another encoding is hardly ever valid UTF-8 by chance.

    Raises:
        QprError: the file cannot be opened, or its compressed data is damaged.
    """
    start = next(_pieces(source), b"")[:START_BYTES]
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return not text.isascii() and not start.startswith(codecs.BOM_UTF8)


def lines_of(pieces: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines of UTF-8 text as `physical_lines` does, a list for each piece."""
    rest = b""
    for piece in pieces:
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
    """Return the compression of a file that begins with ``start``, by its data and then by its name.

    Raises:
        QprError: the name ends in .gz or .zst, but the data is another known format, or not gzip.
    """
    codec = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
    if codec or source.compression is None:
        return codec
    _refuse_other_formats(start, source)
    if source.compression == "gzip" and not start.startswith(_GZIP_MAGIC[: len(start)]):
        raise QprError(f"{source.url}: is not gzip data, although its name ends in .gz. Rename the file")
    return source.compression  # a file of zstd may begin with a frame that is skipped


def _refuse_other_formats(start: bytes, source: Source) -> None:
    for magic, kind in _OTHER_FORMATS.items():
        if start.startswith(magic):
            raise QprError(f"{source.url}: is {kind}")
    text = start[:_MARKUP_BYTES].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for beginning, kind in _MARKUP.items():
        if text.startswith(beginning):
            raise QprError(f"{source.url}: is {kind}")


def _cut(line: bytes) -> bytes:
    return line if len(line) <= MAX_ROW_BYTES else line[: MAX_ROW_BYTES + 1]


def _pieces(source: Source) -> Iterator[bytes]:
    """Yield the unpacked bytes; an error in the packed data names the approximate number of lines before it."""
    file_system, path = storage.locate(source.location)
    lines = 0
    with contextlib.ExitStack() as stack:
        with storage.explained(source.url):
            file = stack.enter_context(file_system.open(path, "rb"))
            start = file.read(_MARKUP_BYTES)
            file.seek(0)
        codec = codec_of(start, source)
        stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec) if codec else file
        while piece := _read(stream, source=source, codec=codec, lines=lines):
            yield piece
            lines += piece.count(b"\n")


def _read(stream: Any, *, source: Source, codec: str | None, lines: int) -> bytes:
    if codec is None:
        with storage.explained(source.url):
            return bytes(stream.read(_PIECE_BYTES))
    try:
        return bytes(stream.read(_PIECE_BYTES))
    except OSError as error:  # Arrow checks lengths and checksums, and reads a file of several members
        cause = f"the {codec} data is broken after about row {lines} ({error})"
        raise QprError(f"{source.url}: {cause}. Copy the file again") from error
