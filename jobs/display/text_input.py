"""Questions as a person or a program hands them over: valid text, and of a length that a question can have.

lines of bytes -> question_lines -> texts; words of a command line -> question_arguments -> texts
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from schemas.errors import QprError, UsageError

MAX_BYTES = 1 << 20
"""A longer line is no question, and its words would take over a gigabyte to encode."""

_UTF8_MARK = b"\xef\xbb\xbf"


def question_lines(lines: Iterable[bytes], *, source: str) -> Iterator[str]:
    """Yield the text of each line without its line end; an empty line is a text, a byte-order mark is none.

    Args:
        lines: as read, with or without line ends.
        source: where they are from, for the message.

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
            raise QprError(f"{source}: {fault}. Convert the file, with iconv say") from error


def question_arguments(given: Sequence[str]) -> list[str]:
    """Return words of the command line as UTF-8 text, whatever the locale made of them.

    Raises:
        UsageError: one is not UTF-8.
    """
    try:
        return [os.fsencode(argument).decode() for argument in given]
    except UnicodeDecodeError as error:
        raise UsageError(f"{error.object!r}: the question is not UTF-8 ({error.reason}). Check the terminal") from error
