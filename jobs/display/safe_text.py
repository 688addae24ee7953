"""Texts of logs made harmless for a terminal, Markdown, HTML and spreadsheets, and ids for JSON.

question or answer -> printable, printable_lines, markdown_text, cut -> text to show
row -> with_text_ids -> row for JSON; JSON -> json_text -> JSON to print; text -> terminal_text -> text to print
table -> csv_bytes -> CSV for a spreadsheet; its cell -> cell_text -> text
"""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TextIO

from schemas.quantities import counted

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_CHARACTERS: Final = 300
"""A report shows up to 400 texts and must open on a phone, so longer ones are cut."""

CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters except line feeds and tabs."""

_HIGH_CONTROLS: Final = re.compile(r"[\x7f-\x9f]")
"""Control characters that writers of JSON leave as they are; U+009B begins a command of a terminal, as ESC [ does."""

_DIRECTIONS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Formatting characters of the bidirectional algorithm; one that is not closed turns the rest of a line around."""

LEFT_TO_RIGHT: Final = "\u200e"
"""A mark of no width, left of which right-to-left text ends: what follows it stands to the right of that text."""

_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Letters of Hebrew, Arabic and other scripts that are written from right to left."""

_MOST_INDENTATION: Final = 40
"""Half of a terminal's width; the rest of a line stays readable."""

_SIGNS: Final = r"=+\-@\t\uff1d\uff0b\uff0d\uff20"
"""Characters with which a formula begins in a spreadsheet."""

_FORMULA: Final = rf"\A{{0}}(?='*(?!-[0-9]+\Z)[{_SIGNS}\r\n])|(?<=[;\r\n]){{0}}(?='*(?!-[0-9]+\Z)[{_SIGNS}])"
"""Beginning of a formula, also after apostrophes, one of which `cell_text` removes; an id is none. Whatever the quotes,
Excel also splits a text at semicolons and line ends, where the system separates lists by semicolons, as in Germany."""

_MARKDOWN_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


def printable(text: str) -> str:
    """Return ``text`` on one line and without the characters that could drive a terminal or turn its line around."""
    kept = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text if c not in _DIRECTIONS)
    return " ".join(kept.split())


def printable_lines(text: str) -> str:
    """Return ``text`` with its lines, each made `printable`, and their indentation; blank lines are single."""
    kept = "\n".join(_indentation(line) + printable(line) for line in text.splitlines())
    return re.sub("\n\\s*\n", "\n\n", kept).strip("\n")


def _indentation(line: str) -> str:
    """Return the spaces before a line, at most `_MOST_INDENTATION`."""
    before = line[: len(line) - len(line.lstrip())].expandtabs(4)
    return " " * min(len(before), _MOST_INDENTATION)


def is_right_to_left(text: str) -> bool:
    """Return whether a text has a letter of a script that is written from right to left."""
    return _RIGHT_TO_LEFT.search(text) is not None


def escape_controls(text: str) -> str:
    """Return a message with its control characters spelled as in Python's source; line feeds and tabs stay."""
    return CONTROLS.sub(lambda control: repr(control[0])[1:-1], text)


def json_text(document: Any, *, indent: int | None = None) -> str:
    """Return a document as a line or lines of JSON, all its control characters spelled; values stay as they are."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    return _HIGH_CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text) + "\n"


def terminal_text(text: str, stream: TextIO) -> str:
    """Return a text for a stream: `escape_controls` of it for a terminal, itself for a file or a program."""
    return escape_controls(text) if stream.isatty() else text


def markdown_text(text: str) -> str:
    """Return ``text`` on one line, escaped for Markdown and its table cells."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", printable(text)).replace("&", "&amp;")


def formula_free(text: str) -> str:
    """Return the text of a cell with an apostrophe before each place that a spreadsheet could run as a formula."""
    return re.sub(_FORMULA.format(""), "'", text)


def cell_text(cell: str) -> str:
    """Return the text of which `formula_free` made a cell."""
    return re.sub(_FORMULA.format("'"), "", cell)


def csv_bytes(table: pa.Table) -> bytes:
    """Return CSV with a header for a spreadsheet: a text that it could run as a formula has an apostrophe before it.

    The byte-order mark shows that the text is UTF-8: without one Excel reads ä as Ã¤.
    """
    import pyarrow as pa
    import pyarrow.csv as pacsv

    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = [None if text is None else formula_free(text) for text in table[field.name].to_pylist()]
            table = table.set_column(place, field, pa.chunked_array([texts], field.type))
    sink = pa.BufferOutputStream()
    pacsv.write_csv(table, sink)
    return codecs.BOM_UTF8 + bytes(sink.getvalue().to_pybytes())


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
