"""Names in other languages than English: "Hund" and "Katze", "Wrocławiu" and "Lublinie".

names.json, the shared list, languages -> names of a text

A list of a language is read only in texts of it: "pies" are feet in Spanish, a dog in Polish.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Sequence, Set
from importlib import resources
from typing import Any, Final, NamedTuple

from model.guards import names
from model.guards.languages.language import Language
from model.guards.reading import Reading, without_marks

_CASE_ENDING: Final = re.compile(r"(?<=\w\w\w)'\w{1,3}$")
"""The ending of a foreign name in Polish: "iPhone'a"."""


class _Table(NamedTuple):
    """Names of a language.

    Attributes:
        known: each spelling with its classes and the first spelling of the same name.
        lengths: number of words of the longest name that begins with a word.
        ambiguous: spellings that are common words too.
    """

    known: dict[str, list[tuple[str, str]]]
    lengths: dict[str, int]
    ambiguous: set[str]


@functools.cache
def _rows() -> dict[str, Any]:
    rows: dict[str, Any] = json.loads(resources.files(__package__).joinpath("names.json").read_text(encoding="utf-8"))
    return rows


@functools.cache
def _table(language: Language) -> _Table:
    """Return the names of a language without marks: "hund~" with all its endings, "essen?" a common word too."""
    own = dict(_rows().get(language.name, {}))
    endings = ("", *(own.pop("endings", "").split() or language.endings))
    known: dict[str, list[tuple[str, str]]] = {}
    ambiguous = set()
    groups = itertools.chain(_rows()["all"].items(), own.items())
    for group, line in ((name, line) for name, lines in groups for line in lines):
        first, *_ = spellings = line.split("|")
        for spelling in spellings:
            forms = _forms(without_marks(spelling.rstrip("?")), endings)
            for form in forms:
                known.setdefault(form, []).append((group, first.rstrip("~?")))
            if spelling.endswith("?"):
                ambiguous.update(forms)
    return _Table(known, names.lengths_of(known), ambiguous)


def _forms(spelling: str, endings: Sequence[str]) -> list[str]:
    """Return a spelling with each ending in place of "~"."""
    parts = spelling.split("~")
    products = itertools.product(endings, repeat=len(parts) - 1)
    return ["".join(itertools.chain.from_iterable(zip(parts, (*chosen, ""), strict=True))) for chosen in products]


def may_have_names(words: Set[str], languages: Sequence[Language]) -> bool:
    """Return whether one of the words, in lower case and also without marks, begins a name."""
    if not names.first_words().isdisjoint(words):
        return True
    return any(word in _table(language).lengths for language in languages for word in words)


def names_of(words: list[tuple[str, bool]], languages: Sequence[Language]) -> list[names.Name]:
    """Return the names among words with their case in texts of some languages, none of them for English.

    A function word of these is no name of the shared list: "mit" in German.
    """
    if not languages:
        return names.names_of(words)
    functions = frozenset().union(*(language.functions for language in languages)) & names.known_names().keys()
    found = names.names_of(
        [("" if not capital and word.casefold() in functions else word, capital) for word, capital in words]
    )
    plain = [_CASE_ENDING.sub("", without_marks(word.casefold())) for word, _ in words]
    for language in languages:
        found += names.find_names(words, plain, *_table(language))
    return found


def sure_names(reading: Reading, languages: Sequence[Language]) -> dict[str, set[str]]:
    """Return the names of each class that a text surely has."""
    return names.by_group([name for name in names_of(reading.cased, languages) if name.sure])
