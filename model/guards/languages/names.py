"""Names in other languages than English: "Hund" and "Katze", "Wrocławiu" and "Lublinie".

names.json, the shared list, languages -> names of a text

A list of a language is read only in texts of it: "pies" are feet in Spanish, a dog in Polish.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence, Set
from typing import Any, Final, NamedTuple

from model.guards.entities.names import Lexicon, Name, by_group, find_names, known_names, lexicon_of
from model.guards.languages.language import Language
from model.guards.lists import read_json
from model.guards.reading import Reading, without_marks

_CASE_ENDING: Final = re.compile(r"(?<=\w\w\w)'\w{1,3}$")
"""The ending of a foreign name in Polish: "iPhone'a"."""


@functools.cache
def _rows() -> dict[str, Any]:
    rows: dict[str, Any] = read_json(__package__, "names.json")
    return rows


class _Names(NamedTuple):
    """Names of a language.

    Attributes:
        lexicon: the names; "hund~" stands for this word with all endings.
        roots: words of these names that end in "~".
        endings: of words, the empty one among them.
        words: of the names, "certificato" and "residenza".
        longest: number of letters of the longest ending.
    """

    lexicon: Lexicon
    roots: frozenset[str]
    endings: frozenset[str]
    words: frozenset[str]
    longest: int


@functools.cache
def _names(language: Language) -> _Names:
    """Return the names of a language without marks; with "?" they are common words too."""
    own = dict(_rows().get(language.name, {}))
    endings = own.pop("endings", "").split() or language.endings
    found, ambiguous = [], set()
    groups = itertools.chain(_rows()["all"].items(), own.items())
    for group, line in ((name, line) for name, lines in groups for line in lines):
        first, *_ = spellings = line.split("|")
        for spelling in spellings:
            plain = without_marks(spelling.rstrip("?"))
            found.append((group, first.rstrip("~?"), plain))
            if spelling.endswith("?"):
                ambiguous.add(plain)
    roots = frozenset(word for _, _, spelling in found for word in spelling.split() if word.endswith("~"))
    parts = frozenset(word for _, _, spelling in found for word in spelling.split())
    return _Names(lexicon_of(found, ambiguous), roots, frozenset(("", *endings)), parts, max(map(len, endings)))


@functools.lru_cache(maxsize=16_384)
def _spelling(word: str, language: Language) -> str:
    """Return a word without marks as the names of a language are spelled: "hund~" for "hunde", "katze" as it is."""
    names = _names(language)
    for length in range(min(len(word), names.longest + 1)):
        start = len(word) - length
        if word[start:] in names.endings and (root := f"{word[:start]}~") in names.roots:
            return root
    return word


def may_have_names(words: Set[str], languages: Sequence[Language], lexicon: Lexicon | None) -> bool:
    """Return whether one of the words, in lower case and also without marks, can be a word of a name.

    Args:
        words: to look at.
        languages: of the text.
        lexicon: names of a text of roots and glosses; None for all other texts.
    """
    if lexicon is not None:
        return True  # two names can differ in their second words only, as those of certificates in Arabic
    if not known_names().lengths.keys().isdisjoint(words):
        return True
    return any(
        not _names(language).words.isdisjoint((word, _spelling(word, language)))
        for language in languages
        for word in words
    )


def names_of(words: list[tuple[str, bool]], languages: Sequence[Language], lexicon: Lexicon | None) -> list[Name]:
    """Return the names among words with their case in texts of some languages, none of them for English.

    A function word of these is no name of the shared list: "mit" in German.

    Args:
        words: each with whether its capital is that of a name.
        languages: of the text.
        lexicon: names of a text of roots and glosses; None for all other texts.
    """
    lower = [word.casefold() for word, _ in words]
    if lexicon is not None or not languages:
        return find_names(words, lower, lexicon or known_names())
    shared = known_names()
    functions = shared.names.keys() & frozenset().union(*(language.functions for language in languages))
    spellings = [
        "" if not capital and word in functions else word for word, (_, capital) in zip(lower, words, strict=True)
    ]
    found = find_names(words, spellings, shared)
    plain = [_CASE_ENDING.sub("", without_marks(word)) for word in lower]
    for language in languages:
        spelled = [_spelling(word, language) for word in plain]
        for each in (spelled, plain) if spelled != plain else (plain,):
            found += find_names(words, each, _names(language).lexicon)
    return found


def sure_names(reading: Reading, languages: Sequence[Language]) -> dict[str, set[str]]:
    """Return the names of each class that a text surely has."""
    return by_group([name for name in names_of(reading.cased, languages, reading.lexicon) if name.sure])
