"""Mentions of erased questions in texts of people: notes, exports, requests.

text, Erasure -> Mentions.mentions, Mentions.without_names
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Final

from pipelines.privacy.erase import Erasure
from schemas.text import fold, key
from schemas.words import words

_FEWEST_WORDS: Final = 4
"""Words of a question without a space that is more than a name: in Chinese and Japanese most have two characters."""

_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
"""Scripts without spaces between words, and Korean, whose words have endings: Thai, Lao, Burmese, Khmer, Japanese,
Chinese."""

_INDIC: Final = r"\u0900-\u0963\u0966-\u0dff"
"""Scripts of India and Sri Lanka without their full stops; Python takes most of their vowels for no part of a word."""

_WORD: Final = re.compile(rf"(?:[^\W{_UNSPACED}]|[{_INDIC}])")
"""A character of a word that ends at a space, as in Latin, Cyrillic, Arabic, Hebrew and Devanagari."""


@dataclasses.dataclass(frozen=True)
class Mentions:
    """Erased questions in texts of people.

    Attributes:
        erasure: the questions.
    """

    erasure: Erasure

    def mentions(self, text: str) -> bool:
        """Return whether a text is an erased question or has one of several words as a part, in quotes for example."""
        return key(text) in self.erasure.keys or bool(self._parts and self._parts.search(fold(text)))

    @functools.cached_property
    def _parts(self) -> re.Pattern[str] | None:
        """Return the expression of all erased questions of several words, None without one."""
        parts = sorted(map(_part, filter(_has_several_words, self.erasure.keys)))
        return re.compile("|".join(parts)) if parts else None

    def without_names(self, text: str) -> str:
        """Return a text without the names of erased questions in files: "q" and 16 hexadecimal digits."""
        return " ".join(part for part in text.split(" ") if part not in self.names)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Return the names of the questions in files."""
        return frozenset(f"q{number % 2**64:016x}" for number in self.erasure.ids.to_pylist())


def _has_several_words(question: str) -> bool:
    """Return whether a key has several words; Korean has spaces, and its words have several characters."""
    return " " in question or (len(words(question)) >= _FEWEST_WORDS and not _HANGUL.search(question))


def _part(question: str) -> str:
    """Return the expression of a key within a text; in scripts without spaces other words can touch it."""
    start = f"(?<!{_WORD.pattern})" if _WORD.match(question) else ""
    end = f"(?!{_WORD.pattern})" if _WORD.match(question[-1]) else ""
    return start + re.escape(question) + end
