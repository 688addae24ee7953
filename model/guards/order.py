"""The guard of the order of arguments: from Paris to Rome and from Rome to Paris, dogs chase cats and cats chase dogs.

Reading -> exchanged words, ways, sides, clauses -> conflict

Texts with the same content words are compared by the places and prepositions of these words
(`model.guards.roles.places`), all texts by ways from A to B (`model.guards.roles.ways`) and those that share most words
by the sides of their verbs, questions and clauses (`model.guards.roles.exchange`).

Passive clauses are read as active ones. Words that stay true when their sides are exchanged prevent all of these: "vs",
"than", "between", "differ", "similar", "marry", "distance", "plus" (symmetric relations); "and" and "or" only between
the two sides. Other languages have a rule of their own (`model.guards.languages.order`).
"""

from __future__ import annotations

from typing import Final

from model.guards.languages.glossing.reading import glossed
from model.guards.languages.order import moves_object, parts_are_exchanged
from model.guards.languages.recognition import common_languages
from model.guards.lists import listed
from model.guards.reading import Reading
from model.guards.roles.exchange import roles_exchanged
from model.guards.roles.places import words_exchanged
from model.guards.roles.symmetry import JOINING, SYMMETRIC, is_symmetric
from model.guards.roles.ways import ways_opposite

_LEFT_OUT: Final = listed("left_out_of_order") | listed("prepositions")
_MOST_DIFFERING: Final = 4
"""Words of both texts together that may differ in their endings; a quick first test."""
_MOST_WORDS: Final = 60
"""Longer texts are compared by their content words alone: times of the other tests grow with the square."""


def order_differs(query: Reading, question: Reading) -> bool:
    """Return whether two words have exchanged their roles between the texts. Symmetric."""
    query, question = glossed(query, question)
    if languages := common_languages(query, question):
        if any(moves_object(query, question, language) for language in languages):
            return False
        return any(parts_are_exchanged(query, question, language) for language in languages)
    if len((query.vocabulary ^ question.vocabulary) - _LEFT_OUT) > _MOST_DIFFERING:
        return False
    if query.folded == question.folded:
        return False
    is_short = max(len(query.words), len(question.words)) <= _MOST_WORDS
    exchanged = words_exchanged(query, question) or (is_short and ways_opposite(query, question))
    exchanged = exchanged and not (_is_symmetric(query) or _is_symmetric(question))
    exchanged = exchanged or (is_short and roles_exchanged(query, question))
    return exchanged and (_may_be_english(query) or _may_be_english(question))


def _may_be_english(reading: Reading) -> bool:
    """Return whether a text may be English; a short one has only "to" between two names."""
    return reading.may_be_english or " to " in reading.folded


def _is_symmetric(reading: Reading) -> bool:
    """Return whether a word of a symmetric relation other than "and" and "or" is in the text."""
    if SYMMETRIC.isdisjoint(reading.vocabulary - JOINING):
        return False
    words = reading.words
    return any(word not in JOINING and is_symmetric(words, place) for place, word in enumerate(words))
