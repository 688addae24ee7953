"""Two texts of one language as roots and glosses: "kartsız" is "kart without", 三天 is "3 days".

two readings -> language -> numbers in digits, roots and glosses -> GlossedReading

The rules for other languages than English read these texts like any other.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Final

from model.guards.entities.names import Lexicon, lexicon_of, listed_names
from model.guards.languages.glossing import arabic, characters, hindi, turkish
from model.guards.languages.glossing.doubts import affirmed
from model.guards.languages.glossing.lists import Lists, lists_of, replaced, spellings
from model.guards.languages.glossing.plain import PLAIN
from model.guards.languages.glossing.scripts import is_spelled_in, language_of
from model.guards.languages.language import Language
from model.guards.reading import LETTERS, Reading

_ROOTS: Final[dict[str, Callable[[str, Lists, frozenset[str]], str]]] = {
    "turkish": turkish.roots,
    "arabic": arabic.roots,
    "hindi": hindi.roots,
    "chinese": characters.roots,
    "japanese": characters.roots,
}
"""Functions that write a text with digits as roots and glosses; they also read the words of both texts."""
_DIGITS: Final[dict[str, Callable[[str, Lists], str]]] = {
    "turkish": turkish.digits,
    "arabic": arabic.digits,
    "hindi": hindi.digits,
    "chinese": characters.digits,
    "japanese": characters.digits,
}
_LATIN: Final = re.compile(r"[a-z]*[A-Z][A-Za-z]+")
_MOST_CHARACTERS: Final = 300
"""Longer texts are read without glosses: the 100 expressions of a language take 10 ms for 1,000 characters."""
_BRANDS: Final = frozenset(("company", "software"))
_FORM: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


class GlossedReading(Reading):
    """A text as roots and glosses.

    Args:
        text: roots and glosses with spaces between them.
        name: of the language.
        capitals: roots that begin with a capital or are part of a name.
        forms: words of the text itself in alphabetical order.
    """

    def __init__(self, text: str, name: str, capitals: frozenset[str], forms: list[str]) -> None:
        super().__init__(text)
        self.language = _language(name)
        self.lexicon = _lexicon(name)
        self._capitals, self.forms = capitals, forms

    @functools.cached_property
    def cased(self) -> list[tuple[str, bool]]:
        """Roots and glosses, each with whether it begins with a capital."""
        return [(word, word in self._capitals) for word in self.words]


@functools.lru_cache(maxsize=4)  # the guards get the same readings one after the other
def glossed(one: Reading, two: Reading) -> tuple[Reading, Reading]:
    """Return two texts as roots and glosses, the same readings for another language or a long text. Symmetric."""
    if max(len(one.folded), len(two.folded)) > _MOST_CHARACTERS:
        return one, two
    name = language_of(one, two)
    if name is None:
        return one, two
    first, second = (PLAIN[name](reading.folded) for reading in (one, two))
    words = frozenset(LETTERS.findall(first)) | frozenset(LETTERS.findall(second))
    roots, others = _glossed(first, name, words), _glossed(second, name, words)
    lists = lists_of(name)
    return (
        _reading(one, first, affirmed(roots, others, first, lists), words, name),
        _reading(two, second, affirmed(others, roots, second, lists), words, name),
    )


@functools.lru_cache(maxsize=16)
def _glossed(plain: str, name: str, words: frozenset[str]) -> str:
    lists = lists_of(name)
    text = _DIGITS[name](replaced(plain, lists.before_numbers), lists)
    return _ROOTS[name](replaced(text, lists.replacements), lists, words)


def _reading(reading: Reading, plain: str, text: str, words: frozenset[str], name: str) -> GlossedReading:
    """Return a text as roots and glosses with its capitals, of the words of both texts."""
    if name == "turkish":
        capitals = [word for word, capital in reading.cased if capital]
    else:
        capitals = _LATIN.findall(reading.raw)
    roots = [_glossed(PLAIN[name](word.casefold()), name, words).split() for word in capitals]
    titled = lists_of(name).titles
    if titled is not None:
        roots += [_glossed(match[1], name, words).split() for match in titled.finditer(plain)]
    found = frozenset(root for units in roots for root in units)
    return GlossedReading(text, name, found, sorted(_FORM.findall(plain)))


@functools.cache
def _language(name: str) -> Language:
    """Return the word lists of a language, with opposites as roots."""
    lists = lists_of(name)
    opposites = [
        [_ROOTS[name](f"{word}, ", lists, frozenset()).partition(" ,")[0] for word in pair]
        for pair in lists.language.opposites
    ]
    return dataclasses.replace(lists.language, opposites=frozenset((one, two) for one, two in opposites))


@functools.cache
def _lexicon(name: str) -> Lexicon:
    """Return the names that `names.json` has, and those of this language as roots and glosses."""
    own = ((group, names[0], spelling) for group, rows in spellings().items() for names in rows for spelling in names)
    listed = (row for row in listed_names() if row[0] in _BRANDS and name == "turkish")
    glosses = (
        (group, first, _glossed(plain, name, frozenset(LETTERS.findall(plain))))
        for group, first, spelling in (*own, *listed)
        if is_spelled_in(spelling, name)
        for plain in [PLAIN[name](spelling)]
    )
    return lexicon_of((*listed_names(), *glosses))
