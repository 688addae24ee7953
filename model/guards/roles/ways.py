"""Ways from A to B: "last train from Osaka to Tokyo" and "when does the train from Tokyo to Osaka leave".

words -> names before and behind "to", "into" and "from" -> opposite ways
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from model.guards.reading import Reading, stem
from model.guards.roles.parts import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DROPPED,
    LONGEST_NAME,
    PERSONS,
    POSSESSIVES,
    PREPOSITIONS,
    is_participle,
)

_TO: Final = frozenset(["to", "into", "onto"])
_Way: TypeAlias = tuple[list[str], list[str]]


def ways_opposite(query: Reading, question: Reading) -> bool:
    """Return whether one text goes from A to B and the other from B to A."""
    if _TO.isdisjoint(query.vocabulary) or _TO.isdisjoint(question.vocabulary):
        return False
    theirs = list(_ways(question))
    return any(
        _opposite(one, two) and one[0][0] != one[1][0] and not _goes_both_ways(query) and not _goes_both_ways(question)
        for one in _ways(query)
        for two in theirs
    )


def _goes_both_ways(reading: Reading) -> bool:
    """Return whether a text goes from A to B and from B to A."""
    ways = list(_ways(reading, with_verbs=True))
    return any(_opposite(one, two) for one in ways for two in ways)


def _opposite(one: _Way, two: _Way) -> bool:
    return _agree(one[0], two[1]) and _agree(one[1], two[0])


def _agree(one: list[str], two: list[str]) -> bool:
    """Return whether one name begins with all words of the other."""
    return bool(one and two) and one[: len(two)] == two[: len(one)]


def _ways(reading: Reading, *, with_verbs: bool = False) -> Iterator[_Way]:
    """Return beginnings and ends of ways, stems of up to three words each.

    Args:
        reading: an English text.
        with_verbs: verbs begin ways as well: "we live to eat".
    """
    words = reading.words
    for place, word in enumerate(words):
        if word not in _TO:
            continue
        behind, before = words[place + 1 : place + 5], words[max(0, place - 5) : place]
        if "from" in before:
            yield _name(before[-before[::-1].index("from") :]), _name(behind)
        elif "from" in behind:
            at = behind.index("from")
            yield _name(words[place + at + 2 : place + at + 6]), _name(behind[:at])
        else:
            for size in (1, 2):
                if (with_verbs or not _is_verb(before, size)) and not _is_target(before, size):
                    yield _name(before[-size:]), _name(behind)


def _is_verb(before: list[str], size: int) -> bool:
    """Return whether the first of the last words is a verb: it stands behind "I", "to", "can" or "be"."""
    previous = before[-size - 1] if len(before) > size else ""
    if previous in BE:
        return size == 1 or not is_participle(before[-1])
    return previous == "to" or previous in AUXILIARIES or (previous in PERSONS and previous not in POSSESSIVES)


def _is_target(before: list[str], size: int) -> bool:
    """Return whether another way ends at the last words: "access to my account" before "to my daughter"."""
    others = [word for word in before[:-size] if word not in DETERMINERS]
    return bool(others) and others[-1] in _TO


def _name(words: list[str]) -> list[str]:
    """Return the stems up to the first word of another part, without the article before them."""
    stems: list[str] = []
    for word in words:
        if word in DETERMINERS:
            continue
        if word in PREPOSITIONS or word in DROPPED or (word in PERSONS and word != "us"):  # "from the US"
            break
        stems.append(stem(word))
    return stems[:LONGEST_NAME]
