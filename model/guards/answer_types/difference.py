"""The guard of answer types: the same thing, and another property of it: "when is it", "where is it".

Reading -> Kind -> types that no answer can have together -> conflict

It fires where both texts ask definitely, and for types that cannot have one answer. "What time" and "when", "how come"
and "why", "the cost of" and "how much is" ask for one type; "when will it arrive" and "how long does it take" may have
one answer. Other languages have word lists of their own (`model.guards.languages.answer_types`).
"""

from __future__ import annotations

from typing import Final

from model.guards.answer_types.asks import LEFT_OUT, read_kind, things_of
from model.guards.answer_types.kinds import Kind, is_english_noun
from model.guards.answer_types.vocabulary import asking_list, asking_words, may_be_one
from model.guards.languages.answer_types import asks_for_another_type, share_things
from model.guards.lists import listed
from model.guards.reading import Reading, stem

_LIKE: Final = 0.25
"""Share of common words below which one of these is a content word; a quick first test."""
_ASKING: Final = asking_words()
_CAUSAL: Final = frozenset(("why", "how"))
_GENERIC: Final = asking_list("generic")
_OTHERS: Final = listed("others")


def answer_type_differs(query: Reading, question: Reading) -> bool:
    """Return whether two texts ask for different properties of the same thing.

    Symmetric, but for a reason and a truth: an answer to "why is it open" shows that it is, and one to "is it open"
    does not explain why.
    """
    return _english_types_differ(query, question) or asks_for_another_type(query, question)


def _english_types_differ(query: Reading, question: Reading) -> bool:
    one, two = query.vocabulary, question.vocabulary
    both = one & two
    if len(both) < _LIKE * (len(one) + len(two) - len(both)) and both <= LEFT_OUT:
        return False
    first, second = _ASKING.isdisjoint(one - both), _ASKING.isdisjoint(two - both)
    if (first or second) and (first == second or "how" not in both) and _CAUSAL.isdisjoint(one ^ two):
        return False  # but for "how do I pay" beside "how much do I pay", and "is it open" beside "why is it open"
    asked = read_kind(query)
    other = read_kind(question) if asked else None
    if asked is None or other is None or may_be_one(asked.types, other.types):
        return False
    if "truth" in asked.types:  # served by an answer to "why is it open"
        return False
    if "truth" in other.types and things_of(query, asked) != things_of(question, other):
        return False
    return _is_definite(query, asked, question, other) and _share_a_thing(query, asked, question, other)


def _is_definite(query: Reading, asked: Kind, question: Reading, other: Kind) -> bool:
    if not (_is_english(query, asked) or _is_english(question, other)):
        return False
    if _is_named(asked, question, other) or _is_named(other, query, asked):
        return False
    return _is_about(asked, question) and _is_about(other, query)


def _share_a_thing(query: Reading, asked: Kind, question: Reading, other: Kind) -> bool:
    one, two = things_of(query, asked), things_of(question, other)
    return one == two or share_things(one, two)  # "what are your opening hours" and "what is your address" have none


def _is_english(reading: Reading, kind: Kind) -> bool:
    if reading.is_english:
        return True
    return reading.folded.isascii() and reading.vocabulary.isdisjoint(_OTHERS) and is_english_noun(kind)


def _is_named(kind: Kind, other: Reading, asked: Kind) -> bool:
    """Return whether the other text has the noun that names a type: "what is the fee", "how do I pay the fee".

    "How many languages" and "which languages" are two questions.
    """
    if not kind.is_listed or ("count" in asked.types and kind.nouns == asked.nouns):
        return False
    nouns = [word for word in kind.nouns if word not in _GENERIC] or kind.nouns
    return not set(map(stem, nouns[-1:])).isdisjoint(map(stem, other.vocabulary))


def _is_about(kind: Kind, other: Reading) -> bool:
    """Return whether the other text has the noun of "which countries", where no list has its type."""
    if "thing" not in kind.types:
        return True
    return not {stem(word) for word in kind.nouns}.isdisjoint(map(stem, other.vocabulary))
