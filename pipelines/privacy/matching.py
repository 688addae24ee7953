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

from schemas.characters import LAST_OF_PLANE_0

Span = tuple[int, int]

WORD: Final = r"0-9A-Za-z_\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u058f\u1e00-\u1fff"
"""Inside of a class: characters that continue a word, so that what touches them is a part of a name or code.

Digits, underscores, and letters of Latin, Greek, Cyrillic and Armenian. Other scripts write words, particles and
prefixes without a space before or after a number.
"""

NO_DECIMALS: Final = r"(?:(?<!\.)|(?<=[^\W\d_]\.))"
"""No dot precedes, except that of an abbreviation, as in ``Tel.030 1234567``."""

_SPACES: Final = re.compile(" {2,}")
_HYPHENS: Final = frozenset("-\u2010\u2011\ufe63\uff0d")
_LONG_DASHES: Final = frozenset("\u2014\u2015\u2e3a\u2e3b\u301c\u3030\ufe31\ufe58")
_DASH: Final = re.compile(
    r"(?<=[0-9)])( ?)[\u2013\u2014\u30fc\uff70](?= ?[0-9(])|(?<=[A-Za-z])\u2013(?=[A-Za-z])"
    r"|(?<=[0-9])\u2013(?=[\w.+%-]{1,64}@)"
)
"""A dash in place of a hyphen: within a number, a word or the name in an address. Others separate clauses.

Within a number the long-vowel mark of Japanese is one too, which looks like a dash and is on the same key.
"""

_SIGNS: Final = frozenset("@.+/()%'_:?=&#")
"""Signs of the patterns. Full-width commas and semicolons are left out: no space follows one, so it starts a number."""

_CHANGEABLE: Final = (range(0x3400), range(0xA000, 0xAC00), range(0xF900, 0x20000), range(0xE0000, 0xE1000))
"""Code points that can have a plain form: all but Chinese characters, Hangul and those for private use."""


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

    @property
    def placeholder(self) -> str:
        """Return the text in place of personal data of this kind, such as ``[phone]``."""
        return f"[{self.name}]"


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
        self.plain = _plain_copy(text)
        self._text = text
        self._is_copy = self.plain != text
        self._source: list[str] | None = None  # the part of the text of each character of the copy

    @property
    def text(self) -> str:
        """Return the text with all replacements, and otherwise as it was given."""
        if not self._is_copy:
            return self.plain
        return self._text if self._source is None else "".join(self._source)

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
            if self._is_copy:
                self._source = _source_of(self._text) if self._source is None else self._source
                first, *others = (self._source[start:end] for start, end in gaps)
                self._source = [*first, *(part for other in others for part in (*kind.placeholder, *other))]
            self.plain = kind.placeholder.join(self.plain[start:end] for start, end in gaps)
        return len(spans)


def _plain_copy(text: str) -> str:
    """Return the plain copy of a text; the text itself where all characters are invisible."""
    if not _uneven().search(text):
        return text
    evened = _uneven().sub(lambda uneven: _plain(uneven[0][0]), text)
    return _DASH.sub(lambda dash: f"{dash[1] or ''}-", _SPACES.sub(" ", evened)) or text


def _source_of(text: str) -> list[str]:
    """Return the part of a text that each character of its plain copy stands for."""
    starts: list[int] = []
    before = ""
    for place, character in enumerate(text):
        plain = _plain(character)
        if plain and not plain == before == " ":
            starts.append(place)
        before = plain or before
    return [text[start:end] for start, end in itertools.pairwise([0, *starts[1:], len(text)])]


@functools.cache
def _uneven() -> re.Pattern[str]:
    """Return an expression of runs of spaces, and characters that can change in a copy.

    Of planes above 0 it has all characters, since one range of them is faster than many.
    """
    codes = (code for codes in _CHANGEABLE for code in codes if code <= LAST_OF_PLANE_0)
    changed = "".join(re.escape(chr(code)) for code in codes if _plain.__wrapped__(chr(code)) != chr(code))
    return re.compile(f"[{changed}\u2013\u2014\u30fc\uff70\U00010000-\U0010ffff]| {{2,}}")


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
