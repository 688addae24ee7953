"""Values of repeatable options.

values of an option -> read_texts, read_pairs, read_numbers -> texts, names and values, numbers
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from schemas.artifacts import storage
from schemas.errors import FilterError, QprError, UsageError

_NOTHING = "none"

_UNDECODED: Final = re.compile("[\udc80-\udcff]")
"""Bytes that the locale's encoding does not have: an argument with one is read as UTF-8."""


def read_texts(given: Iterable[str], *, option: str) -> tuple[str, ...]:
    """Return the texts, sorted, each once.

    ``@`` marks a file: a text would change its meaning if a file of its name appeared in the folder.

    Args:
        given: each a text, or ``@`` and the URL of a UTF-8 file with one a line.
        option: for messages.

    Raises:
        UsageError: a text is blank, or not UTF-8.
        QprError: a file cannot be read, is not UTF-8 or contains no text.
    """
    return tuple(sorted({text for value in given for text in _texts(value, option)}))


def read_pairs(given: Iterable[str], *, option: str) -> dict[str, str]:
    """Return name and value of each ``NAME=VALUE``; ``none`` alone, which empties a list, has an empty value.

    Raises:
        UsageError: another text has no ``=``, or a name occurs twice.
    """
    pairs: dict[str, str] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark and text != _NOTHING:
            raise UsageError(f"{option} {text}: has no value. Write {option} {text or 'NAME'}=VALUE")
        if name in pairs:
            raise UsageError(f"{option} {text}: {name} is {pairs[name]} already. Leave one out")
        pairs[name] = value
    return pairs


def read_numbers(text: str, *, option: str) -> tuple[int, ...]:
    """Return the numbers of a list such as ``3,5``.

    Raises:
        UsageError: it is no such list.
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{option} {text}: give one number, such as 5, or several, such as 3,5") from error


def _texts(value: str, option: str) -> Iterator[str]:
    if not value.startswith("@"):
        if not value.strip():
            raise UsageError(f"{option} is blank. Give a text or @FILE")
        try:
            yield os.fsencode(value).decode() if _UNDECODED.search(value) else value
        except UnicodeDecodeError as error:
            raise UsageError(f"{option} {error.object!r}: is not UTF-8 ({error.reason}). Check the terminal") from error
        return
    url = value[1:]
    try:
        text = storage.read_bytes(url).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QprError(f"{url}: {option} reads UTF-8, and this file is not ({error.reason}). Convert it") from error
    lines = [line.strip() for line in text.split("\n")]  # splitlines() also cuts at characters within a text
    if not any(lines):
        raise QprError(f"{url}: contains no text for {option}. Write one a line")
    yield from filter(None, lines)


@contextlib.contextmanager
def naming_filters() -> Iterator[None]:
    """Name the option, instead of the argument of programs, in an error about the values that a search filters by."""
    try:
        yield
    except FilterError as error:
        raise UsageError(f"--filter: {error.fault}") from error
