"""Content words of an English text in order, each with its preposition.

Reading -> words and barriers -> units
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final, NamedTuple

from model.guards.lists import listed
from model.guards.reading import Reading
from model.guards.roles.parts import BARRIER, BARRIERS, BE, PREPOSITIONS, base, is_participle, words_and_barriers
from model.guards.roles.symmetry import JOINING, is_symmetric

TIMES: Final = frozenset(["after", "before", "until", "without", "instead"])
"""Prepositions before what is done in another clause."""
_DROPPED: Final = listed("left_out_of_order")
_LEFT_OUT: Final = _DROPPED | PREPOSITIONS
_NO_UNITS: Final = _DROPPED | listed("left_out_of_roles")
_BEFORE_VERBS: Final = [
    "want", "how", "like", "need", "try", "way", "able", "start", "begin", "learn", "used",
    "place", "going", "know", "best", "have", "has", "had",
]  # fmt: skip
_OF_MANY: Final = ["some", "one", "many", "most", "any", "all", "kind"]
_NO_MARK: Final = frozenset([*(("to", word) for word in _BEFORE_VERBS), *(("of", word) for word in _OF_MANY)])
"""Prepositions that mark nothing after these words: "to" before a verb, "some of"."""
_NUMBERED: Final = listed("before_letters")
"""Nouns after which "a" is a letter: "column A"."""
_ORDINALS: Final = frozenset(["second", "third", "fourth", "last", "final"])
_MEANING: Final = {"a": "A", "first": "1st"}
"""Words that are left out unless they name something, with the stems that they have then."""
_NAMING: Final = _NUMBERED | _ORDINALS


class Unit(NamedTuple):
    """A content word or a barrier.

    Attributes:
        mark: the preposition before it, or the empty text.
        stem: its stem, or `BARRIER`.
    """

    mark: str
    stem: str


def content(reading: Reading) -> list[str]:
    """Return the content words in order."""
    words = [word.partition("'")[0] for word in reading.words] if "'" in reading.folded else reading.words
    if _NAMING.isdisjoint(reading.vocabulary):
        return [word for word in words if word not in _LEFT_OUT]
    named = [_MEANING[word] if _has_meaning(words, place) else word for place, word in enumerate(words)]
    return [word for word in named if word not in _LEFT_OUT]


def units_of(reading: Reading, repeated: Set[str]) -> list[Unit]:
    """Return the content words and barriers in order, with their prepositions; "Z" of "X is done by Z" before the verb.

    Repeated words are left out: the two laws of "state law" and "federal law" have exchanged nothing.
    """
    units: list[Unit] = []
    words = words_and_barriers(reading)
    mark, be, before = "", False, ""
    for place, word in enumerate(words):
        word = _MEANING[word] if _has_meaning(words, place) else word
        if word in BE:
            be = True
        if word in BARRIERS or (word in JOINING and is_symmetric(words, place)):
            if units and units[-1].stem != BARRIER:
                units.append(Unit("", BARRIER))
            mark, be = "", False
        elif word in PREPOSITIONS:
            mark = _mark(word, before, mark)
        elif word not in _NO_UNITS and base(word) not in repeated:
            units.append(Unit(mark, base(word)))
            passive = be and mark == "by" and len(units) > 1
            if passive and _is_participle(words[place::-1]):
                _make_active(units)
            mark = ""
        before = word
    if units and units[-1].stem == BARRIER:
        units.pop()
    return units


def _has_meaning(words: list[str], place: int) -> bool:
    """Return whether a word that is left out elsewhere names something: "column A" or "first class" beside "second"."""
    word = words[place]
    if word not in _MEANING:
        return False
    if word == "first":
        return not _ORDINALS.isdisjoint(words)
    following = words[place + 1 : place + 2]
    return words[max(0, place - 1)] in _NUMBERED and (not following or following[0] in _LEFT_OUT | JOINING)


def _mark(preposition: str, before: str, mark: str) -> str:
    """Return the mark of the word behind a preposition.

    Args:
        preposition: the preposition. "For" has another mark behind words that are left out: "how many yen do I get for
            a pound", "is A good for B".
        before: the word before it.
        mark: an earlier preposition of the same word: "without having to go".
    """
    if preposition == "to" and mark in TIMES:
        return mark
    if (preposition, before) in _NO_MARK:
        return ""
    return f"{before} for" if preposition == "for" and before in _DROPPED else preposition


def _is_participle(before: list[str]) -> bool:
    """Return whether the word before "by" is a participle, in words that are read backwards."""
    at_by = next((place for place, word in enumerate(before) if word == "by"), len(before))
    return is_participle("".join(before[at_by + 1 : at_by + 2]))


def _make_active(units: list[Unit]) -> None:
    """Turn [..., object, verb, by:agent] into [..., agent, verb, object] in place."""
    agent, verb = units.pop(), units.pop()
    target = [units.pop()] if units and not units[-1].mark and units[-1].stem != BARRIER else []
    units += [Unit("", agent.stem), verb, *target]
