"""Texts of logs made harmless for a terminal, Markdown and HTML, and ids for JSON.

question or answer -> printable, markdown_text, cut -> text to show; row -> with_text_ids -> row for JSON
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from schemas.quantities import counted

SHOWN_CHARACTERS: Final = 300
"""A report shows up to 400 texts and must open on a phone, so longer ones are cut."""

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MARKDOWN_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


def printable(text: str) -> str:
    """Return ``text`` on one line and without control characters, which could drive a terminal."""
    kept = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    return " ".join(kept.split())


def escape_controls(text: str) -> str:
    """Return a message with its control characters spelled as in Python's source; line feeds and tabs stay."""
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def markdown_text(text: str) -> str:
    """Return ``text`` on one line, escaped for Markdown and its table cells."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", printable(text)).replace("&", "&amp;")


def cut(text: str) -> str:
    """Return ``text``, or its first `SHOWN_CHARACTERS` characters and its length."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}… ({counted(len(text), 'character')})"


def with_text_ids(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose integers called ``…_id`` are strings, since JavaScript and jq 1.6 round those beyond 2**53."""
    return {
        name: str(value) if name.endswith("_id") and isinstance(value, int) else value for name, value in row.items()
    }
