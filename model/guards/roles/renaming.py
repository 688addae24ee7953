"""Two words that are exchanged wherever they stand, and nothing else: "replace oil with butter".

Reading -> words without articles -> the two words that stand for each other -> exchange

Three cases in which this changes the answer:

- one of the two is there more often: "how much oil do I need if I replace butter with oil";
- they stand in two clauses: "what can a buyer do if the seller leaves";
- a share is asked for: "what percentage of 50 is 20".
"""

from __future__ import annotations

from typing import Final

from model.guards.lists import listed
from model.guards.reading import Reading
from model.guards.roles.parts import BE, DROPPED, PERSONS, PREPOSITIONS, base
from model.guards.roles.symmetry import SYMMETRIC

_ARTICLES: Final = frozenset(["a", "an", "the"])
_CONJUNCTIONS: Final = frozenset(["if", "when", "once", "unless", "because", "although", "though", "while", "whenever"])
_SHARES: Final = frozenset(["percent", "percentage", "fraction", "part", "proportion", "share"])
_NO_NAMES: Final = DROPPED | PREPOSITIONS | PERSONS.keys() | listed("auxiliaries") | listed("determiners")
_MOST_PLACES: Final = 6


def words_renamed(query: Reading, question: Reading) -> bool:
    """Return whether two content words are exchanged wherever they stand, and this changes the question. Symmetric."""
    if _CONJUNCTIONS.isdisjoint(query.vocabulary) and _SHARES.isdisjoint(query.vocabulary):
        return False
    if not (SYMMETRIC.isdisjoint(query.vocabulary) and SYMMETRIC.isdisjoint(question.vocabulary)):
        return False
    one, two = ([word for word in text.words if word not in _ARTICLES] for text in (query, question))
    if len(one) != len(two):
        return False
    places = [place for place, words in enumerate(zip(one, two, strict=True)) if base(words[0]) != base(words[1])]
    if not 2 <= len(places) <= _MOST_PLACES or not _NO_NAMES.isdisjoint(one[place] for place in places):
        return False
    ours, theirs = ([base(words[place]) for place in places] for words in (one, two))
    names = set(ours)
    if len(names) != 2 or names != set(theirs):
        return False
    if ours.count(ours[0]) * 2 != len(ours):
        return True
    begin, end = places[0], places[-1]
    between = one[begin + 1 : end]
    if not _CONJUNCTIONS.isdisjoint(between):
        return len(places) == 2
    return one[begin - 1] == "of" and not _SHARES.isdisjoint(one[:begin]) and BE.issuperset(between) and bool(between)
