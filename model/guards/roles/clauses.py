"""Clauses and comparisons that are exchanged: "does A open when B closes" and "does B close when A opens".

words -> main clause and the other -> exchange
"""

from __future__ import annotations

from typing import Final

from model.guards.reading import Reading
from model.guards.roles.parts import DROPPED, PERSONS, Part, base
from model.guards.roles.symmetry import SYMMETRIC

_CONJUNCTIONS: Final = frozenset(["when", "if", "because", "before", "after", "once", "until"])
_ASKING_REASON: Final = frozenset(["why", "how", "when"])


def clauses_exchanged(query: Reading, question: Reading) -> bool:
    """Return whether the clause after "when" in one text is the main clause of the other."""
    one, two = _clauses(query), _clauses(question)
    if one is None or two is None or one[0] != two[0] or one[1] == one[2]:
        return False
    return one[1] == two[2] and one[2] == two[1]


def _clauses(reading: Reading) -> tuple[str, list[str], list[str]] | None:
    """Return the conjunction, and the stems of the main clause and of the other in alphabetical order, if all is clear.

    A conjunction at the start needs a comma behind its clause.
    """
    found = [place for place, word in enumerate(reading.words) if word in _CONJUNCTIONS]
    places = [place for place in found if place or len(found) == 1]
    if len(places) != 1:
        return None
    at, words = places[0], reading.words
    if at:
        main, clause = words[:at], words[at + 1 :]
    else:
        head, comma, _ = reading.folded.partition(",")
        count = len(head.split())
        if not comma or not 1 < count < len(words):
            return None
        main, clause = words[count:], words[1:count]
    both = [
        sorted(base(word) for word in part if word not in DROPPED and word not in PERSONS) for part in (main, clause)
    ]
    return (words[at], *both) if all(both) else None


def comparison_exchanged(query: Reading, question: Reading, first: list[Part], second: list[Part]) -> bool:
    """Return whether a reason or a degree is asked for "A than B" in one text, and for "B than A" in the other.

    "Is A better than B" is answered by an answer to "is B better than A".
    """
    if any("than" not in text.vocabulary or _ASKING_REASON.isdisjoint(text.vocabulary) for text in (query, question)):
        return False
    if any(part.word in SYMMETRIC and part.word != "than" for part in (*first, *second)):
        return False
    (left, right), (other_left, other_right) = (_around_than(parts) for parts in (first, second))
    ends = bool(right and other_right) and right[0] != other_right[0]
    return (
        ends
        and right[0] in other_left
        and other_right[0] in left
        and sorted(left + right) == sorted(other_left + other_right)
    )


def _around_than(parts: list[Part]) -> tuple[list[str], list[str]]:
    at = next((place for place, part in enumerate(parts) if part.word == "than"), len(parts))
    stems = [part.stem for part in parts]
    return stems[:at], stems[at + 1 :]
