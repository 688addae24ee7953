"""Words that ask for a type of answer, and the types that one answer can have together.

types.json -> vocabulary -> types of a noun, adjective or unit; may_be_one
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from model.guards.lists import read_json

Types = frozenset[str]
"""Types of one answer, one of which is meant: "how long" asks for a length or a duration."""

_LONGEST_NOUN: Final = 4


@functools.cache
def asking_list(name: str) -> frozenset[str]:
    """Return the words of a list of `types.json`; lists that other guards read too are in `model.guards.lists`.

    Raises:
        KeyError: there is no list with this name.
    """
    return frozenset(_file()["lists"][name].split())


def of_adjective(word: str) -> Types:
    """Return the types of an answer to "how" with this adjective or adverb; none for a word without a list."""
    return _table("how").get(word, frozenset())


def of_unit(word: str) -> Types:
    """Return the types of an answer to "how many" with this word: a duration for "days", a count for most words."""
    return _of_form(_table("units"), word)


def of_amount(word: str) -> Types:
    """Return the types of an answer to "how much" with this word: money for "rent", none for most words."""
    return _table("amounts").get(word, frozenset())


def of_noun(words: Sequence[str]) -> tuple[Types, int]:
    """Return the types of the longest listed noun at the end of words, and the number of its words: "side effects"."""
    nouns = _table("nouns")
    for length in range(min(_LONGEST_NOUN, len(words)), 0, -1):
        if types := _of_form(nouns, "_".join(words[-length:])):
            return types, length
    return frozenset(), 0


@functools.cache
def asking_words() -> frozenset[str]:
    """Return the words by which questions of different types differ."""
    nouns = {noun.rpartition("_")[2] for noun in _table("nouns")}
    plurals = (f"{noun}s" for noun in nouns)
    return asking_list("question_words").union(_table("how"), nouns, plurals, asking_list("asking"))


def may_be_one(one: Types, two: Types) -> bool:
    """Return whether one answer can be of a type of each text. Symmetric."""
    return any(_are_compatible(first, second) for first in one for second in two)


@functools.cache
def _are_compatible(one: str, two: str) -> bool:
    if one == two:
        return True
    conflicts = _file()["conflicts"]
    if one in conflicts or two in conflicts:
        return two not in conflicts.get(one, "").split() and one not in conflicts.get(two, "").split()
    compatible = _file()["compatible"]
    return two in compatible.get(one, "").split() or one in compatible.get(two, "").split()


def _of_form(table: Mapping[str, Types], word: str) -> Types:
    """Return the types of a word or of its singular."""
    singular = f"{word.removesuffix('ies')}y" if word.endswith("ies") else word
    for form in (word, word.removesuffix("s"), word.removesuffix("es"), singular):  # no "warranty" for "warrant"
        if form in table:
            return table[form]
    return frozenset()


@functools.cache
def _table(name: str) -> Mapping[str, Types]:
    """Return the types of each word: a word that stands in several lines has all their types."""
    found: dict[str, Types] = {}
    for types, words in _file()[name].items():
        for word in words.split():
            found[word] = found.get(word, frozenset()).union(types.split())
    return found


@functools.cache
def _file() -> dict[str, Any]:
    tables: dict[str, Any] = read_json(__package__, "types.json")
    return tables
