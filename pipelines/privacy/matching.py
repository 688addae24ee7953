"""Matching copies of texts, in which characters that only look different are plain, and kinds of personal data.

text -> MatchingCopy.plain -> spans of a Kind -> MatchingCopy.replace -> MatchingCopy.text

`schemas.text.fold` later makes the same characters plain, so what is written with them would be readable in a key.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

Span = tuple[int, int]

WORD: Final = r"0-9A-Za-z_\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u058f\u1e00-\u1fff"
"""Inside of a class: characters that continue a word, so that what touches them is a part of a name or code.

Digits, underscores, and letters of Latin, Greek, Cyrillic and Armenian. Other scripts write words, particles and
prefixes without a space before or after a number.
"""

_UNEVEN: Final = re.compile(r"[^\x00-\x7f]|[^\S ]|  ")
_HYPHENS: Final = frozenset("-\u2010\u2011\ufe63\uff0d")
_LONG_DASHES: Final = frozenset("\u2014\u2015\u2e3a\u2e3b\u301c\u3030\ufe31\ufe58")
_DASH: Final = re.compile(
    r"(?<=[0-9)])( ?)[\u2013\u2014](?= ?[0-9(])|(?<=[A-Za-z])\u2013(?=[A-Za-z])|(?<=[0-9])\u2013(?=[\w.+%-]{1,64}@)"
)
"""A dash in place of a hyphen: within a number, a word or the name in an address. Others separate clauses."""

_SIGNS: Final = frozenset("@.+/()")


class Kind(NamedTuple):
    """A kind of personal data.

    Attributes:
        name: of the placeholder.
        pattern: matches parts of a copy that may be of this kind.
        spans: returns the parts of a match that are of this kind, in order.
        sign: a part of every match; texts without it are not searched.
    """

    name: str
    pattern: re.Pattern[str]
    spans: Callable[[str], Sequence[Span]]
    sign: str = ""


def whole_if(is_personal: Callable[[str], bool]) -> Callable[[str], Sequence[Span]]:
    """Return the spans of a kind whose matches are personal data as a whole or not at all."""
    return lambda match: [(0, len(match))] if is_personal(match) else []


class MatchingCopy:
    """A text and its copy with plain characters, in which personal data is found.

    Spaces of all kinds are one space, hyphens and dashes within numbers and words ``-``, digits of all scripts and
    full-width letters and signs ASCII; invisible characters (category Cf) are left out.

    Attributes:
        plain: the copy.
    """

    def __init__(self, text: str) -> None:
        self.plain = text
        self._source: list[str] | None = None  # the part of the text of each character of the copy
        if _UNEVEN.search(text):
            self.plain, self._source = _with_source(text)

    @property
    def text(self) -> str:
        """Return the text with all replacements, and otherwise as it was given."""
        return self.plain if self._source is None else "".join(self._source)

    def replace(self, kind: Kind) -> int:
        """Replace personal data of a kind by its placeholder; return the number of replacements."""
        if kind.sign not in self.plain:
            return 0
        spans = [
            (match.start() + start, match.start() + end)
            for match in kind.pattern.finditer(self.plain)
            for start, end in kind.spans(match[0])
        ]
        if spans:
            gaps = [*zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), None], strict=True)]
            placeholder = f"[{kind.name}]"
            if self._source is not None:
                first, *others = (self._source[start:end] for start, end in gaps)
                self._source = [*first, *(part for other in others for part in (*placeholder, *other))]
            self.plain = placeholder.join(self.plain[start:end] for start, end in gaps)
        return len(spans)


def _with_source(text: str) -> tuple[str, list[str]]:
    """Return the plain copy of a text, and the part of the text that each of its characters stands for."""
    characters: list[str] = []
    starts: list[int] = []
    for place, character in enumerate(text):
        plain = _plain(character)
        if plain and not (plain == " " and characters and characters[-1] == " "):
            characters.append(plain)
            starts.append(place)
    if not characters:
        return text, list(text)
    bounds = [0, *starts[1:], len(text)]
    source = [text[start:end] for start, end in itertools.pairwise(bounds)]
    return _DASH.sub(lambda dash: f"{dash[1] or ''}-", "".join(characters)), source


@functools.cache
def _plain(character: str) -> str:
    """Return the plain form of a character: nothing for an invisible one, an en or em dash for other dashes."""
    category = unicodedata.category(character)
    if category == "Cf" or character.isspace():
        return "" if category == "Cf" else " "
    folded = unicodedata.normalize("NFKC", character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd" or folded == "\u2212":
        return "-" if character in _HYPHENS else "\u2014" if character in _LONG_DASHES else "\u2013"
    is_plain = len(folded) == 1 and folded.isascii() and (folded.isalnum() or folded in _SIGNS)
    return folded if is_plain else character
