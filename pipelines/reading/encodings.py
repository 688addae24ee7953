"""Text of any encoding as UTF-8 bytes with line feeds.

pieces of a file -> utf8_pieces -> pieces of UTF-8
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from typing import Final

from schemas.errors import QprError, UsageError

_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before that of UTF-16, with which it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NEED_MARK: Final = ("utf-16", "utf-32")
"""Encodings whose byte order only a mark shows."""

START_BYTES: Final = 1 << 16
"""Bytes of a file that show how its lines end."""

_PROBE_BYTES: Final = 1024
"""Bytes in which UTF-16 is recognized by zero bytes: those of its spaces, delimiters and line ends in any script."""
_MIN_ZEROS: Final = 0.05
"""Minimum share of zeros in one half of the characters' bytes; the other half has few, such as that of U+4E00."""

_DAMAGED: Final = "pipelines.reading.damaged"
_DAMAGED_BYTE: Final = b"\xff"  # occurs in no UTF-8, so that readers reject the row as ``invalid_utf8``


def checked_encoding(name: str) -> str:
    """Return the normal name of a text encoding that Python can decode piece by piece, whatever the bytes.

    Raises:
        UsageError: there is no such encoding.
    """
    try:
        b"a".decode(name, "ignore")
        codecs.getincrementaldecoder(name)(errors=_DAMAGED).decode(b"", final=True)
        return codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError) as error:
        raise UsageError(
            f"--encoding {name}: unknown text encoding. Use a name such as utf-16, cp1252 or latin-1"
        ) from error


def utf8_pieces(pieces: Iterator[bytes], *, encoding: str | None, url: str) -> Iterator[bytes]:
    r"""Yield the text of a file as UTF-8 without its byte-order mark; text that is UTF-8 already is not checked.

    A byte-order mark overrides ``encoding``. Bytes that are invalid in the encoding become a byte invalid in UTF-8.
    If the first `START_BYTES` have carriage returns and no line feed, every carriage return becomes ``\n``.

    Args:
        pieces: the unpacked bytes, in order, the first at least `START_BYTES` long unless the file is shorter.
        encoding: a name from `checked_encoding`; None is UTF-8.
        url: the file, for messages.

    Raises:
        QprError: the text looks like UTF-16 but has no byte-order mark and no ``encoding``, or the encoding needs one.
    """
    first = next(pieces, b"")
    marked = next((name for mark, name in _MARKS.items() if first.startswith(mark)), None)
    name = marked or encoding or "utf-8"
    texts: Iterator[bytes] = itertools.chain([first], pieces)
    if first and marked is None and name in _NEED_MARK:
        step = f"Leave --encoding out if it is UTF-8, or use --encoding {name}-le or {name}-be"
        raise QprError(f"{url}: is not {name.upper()} with a byte-order mark. {step}")
    if name == "utf-8":
        _refuse_utf16(first, url)
    elif name == "utf-8-sig":
        texts = itertools.chain([first.removeprefix(codecs.BOM_UTF8)], pieces)
    else:
        texts = _transcoded(texts, name)
    return _with_line_feeds(texts)


def _refuse_utf16(start: bytes, url: str) -> None:
    probe = start[:_PROBE_BYTES]
    half = len(probe) // 2
    for name, zeros, others in (("utf-16-le", probe[1::2], probe[0::2]), ("utf-16-be", probe[0::2], probe[1::2])):
        if half > 1 and zeros.count(0) > _MIN_ZEROS * half and 2 * others.count(0) < zeros.count(0):
            raise QprError(f"{url}: looks like UTF-16 without a byte-order mark. Add --encoding {name}")


def _transcoded(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(name)(errors=_DAMAGED)
    for piece in pieces:
        yield decoder.decode(piece).encode(errors=_DAMAGED)
    yield decoder.decode(b"", final=True).encode(errors=_DAMAGED)


def _with_line_feeds(pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = next(pieces, b"")
    texts = itertools.chain([first], pieces)
    start = first[:START_BYTES]
    if b"\r" in start and b"\n" not in start:  # written by old spreadsheets on the Mac
        return (piece.replace(b"\r", b"\n") for piece in texts)
    return texts


def _mark_damaged(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError):
        return _DAMAGED_BYTE * (error.end - error.start), error.end
    if isinstance(error, UnicodeDecodeError):
        return "\udcff", error.end
    raise error


codecs.register_error(_DAMAGED, _mark_damaged)
