"""A text as the guards read it: folded, its words with their case, and a test for English.

text -> Reading -> guards
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from model.guards.lists import listed
from schemas.characters import LAST_OF_PLANE_0, characters_of
from schemas.text import STRAIGHT_QUOTES, fold

if TYPE_CHECKING:
    from model.guards.entities.names import Lexicon
    from model.guards.languages.language import Language

MOST_CHARACTERS: Final = 2_000
"""Texts are cut here: a guard's time is bounded, and a longer text is no question that a guard was made for."""

_ENGLISH = listed("english")
_ENGLISH_AND_OTHERS = listed("english_and_others")
_ENGLISH_IN_KEYWORDS = listed("english_in_keywords")
_OTHERS = listed("others")
_SMALL = listed("lower_case_in_sentences")
_POSSESSIVES = re.compile(r"(?<=\w)'s?(?!\w)")
_ELISION = re.compile(r"\b(?:[cdjlmn]|qu|jusqu|un|dell|all|dall|nell|sull|quell)'(?=[^\W\d_]{2})", re.IGNORECASE)
_POSSESSIVE = re.compile(r"'s?$")
_SENTENCE_END = re.compile(r"[.!?:;]['\")]*\s+$|^\W*$|[\"(]$|[«¿¡]\s*$")
_CASE_ENDING = re.compile(r"(?<=\w{3})'(?:a|u|y|ow|owi|em|om|ie|ego|emu|ami|ach)\b")
_GREETING = "|".join(listed("greetings"))
_SALUTATION = re.compile(rf"^\W*(?:{_GREETING})\b(?:\s+[^\s,.!?:;]+){{0,3}}\s*[,.!:;]", re.IGNORECASE)
"""A greeting and up to three words for a person, which change no answer; "Hello can I fly to Upham, and" is none."""
_ENDINGS = re.compile("(?:gni|de|[aeinosuy])*")
"""Endings of a reversed word, -ing, -ed and -ies among them: read from its end, each letter belongs to one of them, so
that the time does not grow exponentially with the length of a word."""

RUN: Final = re.compile(r"[^\W_]+")
"""Letters and digits without a space or sign between them."""
LETTERS: Final = re.compile(r"[^\W\d_]+")
"""Letters without a digit, space or sign between them."""

_MARKS = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")
_PLAIN: Final = str.maketrans("łё", "lе")


class Reading:
    """Views of one text, the expensive ones made when a guard needs them.

    Args:
        text: a question as a person typed it; the first 2,000 characters are read.

    Attributes:
        raw: the text in Unicode's NFKC, with its case.
        folded: the text as `schemas.text.fold` leaves it.
        words: its words in order: contractions whole, "'s" and the apostrophe of a plural left out.
        vocabulary: its distinct words.
        language: of a text of roots and glosses, `model.guards.languages.glossing`; None for all other texts.
        lexicon: names in such a text; None for those of all other texts.
        forms: words of such a text before they were cut, in alphabetical order; None for all other texts.
    """

    language: Language | None = None
    lexicon: Lexicon | None = None
    forms: list[str] | None = None

    def __init__(self, text: str) -> None:
        raw = text[:MOST_CHARACTERS]
        if not raw.isascii():  # cut again: NFKC makes up to 18 characters of one
            raw = unicodedata.normalize("NFKC", raw)[:MOST_CHARACTERS].translate(STRAIGHT_QUOTES)
        self.raw = raw
        self.folded = fold(raw)
        self._word = _word_pattern(self.folded.isascii())
        quoted = "'" in self.folded
        self.words = self._word.findall(_POSSESSIVES.sub("", _apart(self.folded)) if quoted else self.folded)
        self.vocabulary = frozenset(self.words)

    def share_of_common_words(self, other: Reading) -> float:
        """Return the Jaccard similarity of the distinct words of two texts."""
        return len(self.vocabulary & other.vocabulary) / max(1, len(self.vocabulary | other.vocabulary))

    @functools.cached_property
    def plain(self) -> str:
        """The folded text as `plain` leaves it."""
        return plain(self.folded)

    @functools.cached_property
    def runs(self) -> list[str]:
        """Runs of letters and digits of the plain text in order."""
        return self.words if self.folded.isascii() and "'" not in self.folded else RUN.findall(self.plain)

    @functools.cached_property
    def plain_vocabulary(self) -> frozenset[str]:
        """Distinct runs of letters and digits of the plain text."""
        return self.vocabulary if self.runs is self.words else frozenset(self.runs)

    @functools.cached_property
    def is_english(self) -> bool:
        """The text has a function word of English, and no more of other languages than those that are English alone.

        "Was" begins German questions, "is" Dutch and Hindi ones; other languages are read by no rule.
        """
        if _ENGLISH.isdisjoint(self.vocabulary) and _ENGLISH_AND_OTHERS.isdisjoint(self.vocabulary):
            return False
        return len(self.vocabulary & _OTHERS) <= len(self.vocabulary & _ENGLISH)

    @property
    def may_be_english(self) -> bool:
        """The text is English, or has a word of English that stands in keywords: "foods without iron"."""
        return self.is_english or not _ENGLISH_IN_KEYWORDS.isdisjoint(self.vocabulary)

    @functools.cached_property
    def cased(self) -> list[tuple[str, bool]]:
        """Words without a possessive ending, each with whether its capital letter is that of a name.

        The first word of a sentence or quotation is none, nor is a person greeted at the start, nor any word of a text
        in which most are capitalised.
        """
        raw = _apart(self.raw)
        found = [(match.group(), match.start()) for match in self._word.finditer(raw)]
        long = [word for word, _ in found[1:] if len(word) > 3]
        titled = len(long) > 3 and sum(word[0].isupper() for word in long) > 0.7 * len(long)
        titled = titled or any(word.istitle() and word.lower() in _SMALL for word, _ in found[1:])
        if titled or self.raw.isupper() or len(found) != len(self.words):
            return [(word, False) for word in self.words]
        greeting = _SALUTATION.match(raw)
        begin = greeting.end() if greeting else 0
        return [(_POSSESSIVE.sub("", word), start >= begin and _is_name(raw, word, start)) for word, start in found]


def _is_name(raw: str, word: str, start: int) -> bool:
    if not word[0].isupper() or word == "I" or word.startswith("I'"):
        return False
    return not _SENTENCE_END.search(raw, max(0, start - 6), start)


def _apart(text: str) -> str:
    """Return a text with a space behind words that have lost a vowel before the next one: "l'Italie" and "d'Orange"."""
    return _ELISION.sub(r"\g<0> ", text) if "'" in text else text


def plain(folded: str) -> str:
    """Return folded text without the marks of Latin letters, which many people leave out: "qué" is "que".

    The ending of a foreign name in Polish is left out too: "iPhone'a".
    """
    return _CASE_ENDING.sub("", without_marks(folded))


def without_marks(folded: str) -> str:
    """Return folded text without the marks of Latin letters, with ł as l and ё as е."""
    if folded.isascii():
        return folded
    parts = _MARKS.sub("", unicodedata.normalize("NFD", folded.translate(_PLAIN)))
    return unicodedata.normalize("NFC", parts)


@functools.cache
def _word_pattern(is_ascii: bool) -> re.Pattern[str]:
    """Return the expression of a word with its vowel marks and apostrophes, of folded or raw text."""
    marks = "" if is_ascii else rf"(?:[{characters_of('M', last=LAST_OF_PLANE_0)}]+[^\W_]*)*"
    return re.compile(rf"[^\W_]+{marks}(?:'[^\W\d_]+)*")


@functools.lru_cache(maxsize=4_096)
def stem(word: str) -> str:
    """Return a word without endings, at least three letters: "germany", "german" and "germans" are one."""
    if len(word) < 4:
        return word
    endings = _ENDINGS.match(word[:2:-1])
    assert endings is not None
    short = word[: len(word) - endings.end()]
    return short[:-1] if len(short) > 3 and short[-1] == short[-2] else short
