"""A text as the guards read it: folded, its words with their case, and a test for English.

text -> Reading -> guards
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Final

from model.guards.lists import listed
from schemas.text import fold

MOST_CHARACTERS: Final = 2_000
"""Texts are cut here: a guard's time is bounded, and a longer text is no question that a guard was made for."""

WORD: Final = re.compile(r"[^\W_]+(?:'[^\W\d_]+)*")
"""A word with its apostrophes, of folded or raw text."""

_ENGLISH = listed("english")
_SMALL = listed("lower_case_in_sentences")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"'})
_POSSESSIVES = re.compile(r"(?<=\w)'s?(?!\w)")
_POSSESSIVE = re.compile(r"'s?$")
_SENTENCE_END = re.compile(r"[.!?:;]['\")]*\s+$|^\W*$|[\"(]$")
_ENDINGS = re.compile(r"(?:ies|ing|ed|[aeinosuy])+$")


class Reading:
    """Views of one text, the expensive ones made when a guard needs them.

    Args:
        text: a question as a person typed it; the first 2,000 characters are read.

    Attributes:
        raw: the text in Unicode's NFKC, with its case.
        folded: the text as `schemas.text.fold` leaves it.
        words: its words in order: contractions whole, "'s" and the apostrophe of a plural left out.
        vocabulary: its distinct words.
    """

    def __init__(self, text: str) -> None:
        raw = text[:MOST_CHARACTERS]
        self.raw = raw if raw.isascii() else unicodedata.normalize("NFKC", raw).translate(_QUOTES)
        self.folded = fold(raw)
        self.words = WORD.findall(_POSSESSIVES.sub("", self.folded) if "'" in self.folded else self.folded)
        self.vocabulary = frozenset(self.words)

    def share_of_common_words(self, other: Reading) -> float:
        """Return the Jaccard similarity of the distinct words of two texts."""
        return len(self.vocabulary & other.vocabulary) / max(1, len(self.vocabulary | other.vocabulary))

    @functools.cached_property
    def is_english(self) -> bool:
        """The text has a function word of English that its neighbours lack; others are read by no rule."""
        return not _ENGLISH.isdisjoint(self.vocabulary)

    @functools.cached_property
    def cased(self) -> list[tuple[str, bool]]:
        """Words without a possessive ending, each with whether its capital letter is that of a name.

        The first word of a sentence or quotation is none, nor is any word of a text in which most are capitalised.
        """
        found = [(match.group(), match.start()) for match in WORD.finditer(self.raw)]
        long = [word for word, _ in found[1:] if len(word) > 3]
        titled = len(long) > 3 and sum(word[0].isupper() for word in long) > 0.7 * len(long)
        titled = titled or any(word.istitle() and word.lower() in _SMALL for word, _ in found[1:])
        if titled or self.raw.isupper() or len(found) != len(self.words):
            return [(word, False) for word in self.words]
        return [(_POSSESSIVE.sub("", word), self._is_name(word, start)) for word, start in found]

    def _is_name(self, word: str, start: int) -> bool:
        if not word[0].isupper() or word == "I" or word.startswith("I'"):
            return False
        return not _SENTENCE_END.search(self.raw, max(0, start - 6), start)


@functools.lru_cache(maxsize=4_096)
def stem(word: str) -> str:
    """Return a word without endings, at least three letters: "germany", "german" and "germans" are one."""
    if len(word) < 4:
        return word
    short = word[:3] + _ENDINGS.sub("", word[3:])
    return short[:-1] if len(short) > 3 and short[-1] == short[-2] else short
