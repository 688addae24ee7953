"""Questions from a command line or a stream, checked for encoding and length.

file, lines of bytes -> read_lines, question_lines -> texts; words of a command line -> question_arguments -> texts
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from jobs.display.console import say
from schemas.artifacts import storage
from schemas.errors import QprError, UsageError

MAX_BYTES = 1 << 20
"""Maximum length of a line: the words of a longer one would take over a gigabyte to encode."""

BATCH = 256
"""Lines of stdin searched together; one at a time if typed."""

HITS = 1_000_000
"""Maximum hits of the questions searched together, which bounds the memory of a large ``--k``."""

_UTF8_MARK = b"\xef\xbb\xbf"
_CODECS = {".gz": "gzip", ".zst": "zstd"}


def question_lines(lines: Iterable[bytes], *, source: str) -> Iterator[str]:
    """Yield the text of each line without its line end; an empty line is kept, a byte-order mark is dropped.

    Args:
        lines: as read, with or without line ends.
        source: name of the stream, for error messages.

    Raises:
        QprError: a line is not UTF-8 or too long; the message names it. All before it have been yielded.
    """
    for number, line in enumerate(lines, start=1):
        content = (line.removeprefix(_UTF8_MARK) if number == 1 else line).rstrip(b"\r\n")
        if len(content) > MAX_BYTES:
            raise QprError(
                f"{source}: line {number} has {len(content):,} bytes; no question is that long. Leave it out"
            )
        try:
            yield content.decode()
        except UnicodeDecodeError as error:
            fault = f"line {number} is not UTF-8 ({error.reason})"
            raise QprError(f"{source}: {fault}. Convert the file, for example with iconv") from error


def question_arguments(given: Sequence[str]) -> list[str]:
    """Return words of the command line as UTF-8 text, independent of the locale; without one, ask a person to type.

    Raises:
        UsageError: a word is not UTF-8.
    """
    try:
        decoded = [os.fsencode(argument).decode() for argument in given]
    except UnicodeDecodeError as error:
        raise UsageError(f"{error.object!r}: the question is not UTF-8 ({error.reason}). Check the terminal") from error
    if not decoded and is_typed():
        say("Type a question and press Enter; Ctrl-D ends.")
    return decoded


def is_typed() -> bool:
    """Return whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def question_batches(given: Sequence[str], *, hits: int) -> Iterator[list[str]]:
    """Yield the questions that are searched together.

    Args:
        given: the questions; empty: the lines of standard input.
        hits: of a question.

    Raises:
        UsageError: there is no question.
    """
    lines = question_lines(sys.stdin.buffer if sys.stdin is not None else [], source="standard input")
    remaining = iter(given or lines)
    size = 1 if is_typed() else min(BATCH, max(HITS // hits, 1))
    batch = list(itertools.islice(remaining, size))
    if not batch:
        raise UsageError("no question: give one as an argument or one a line on stdin")
    while batch:
        yield batch
        batch = list(itertools.islice(remaining, size))


def read_lines(url: str) -> list[str]:
    """Return the lines of a file, of standard input for ``-``; an empty line is a line, a final line break ends one.

    Raises:
        QprError: the file is missing, empty or damaged, or a line is not UTF-8 or too long.
    """
    name = "standard input" if url == "-" else url
    content = sys.stdin.buffer.read() if url == "-" else _decompressed(url, storage.read_bytes(url))
    if not content:
        raise QprError(f"{name}: is empty. Give one question a line")
    return list(question_lines(content.removesuffix(b"\n").split(b"\n"), source=name))


def _decompressed(url: str, content: bytes) -> bytes:
    """Return the content of a .gz or .zst file unpacked, of any other as it is.

    Raises:
        QprError: it cannot be unpacked.
    """
    codec = next((codec for suffix, codec in _CODECS.items() if url.endswith(suffix)), None)
    if codec is None or not content:
        return content
    import pyarrow as pa  # not needed for plain text

    try:
        return bytes(pa.CompressedInputStream(pa.BufferReader(content), codec).read())
    except OSError as error:
        raise QprError(f"{url}: broken {codec} file: {error}. Fetch it again") from error
