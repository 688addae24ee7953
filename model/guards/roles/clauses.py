"""Clauses and comparisons that are exchanged: "does A open when B closes" and "does B close when A opens".

words -> main clause and the other -> exchange
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final, NamedTuple

from model.guards.reading import Reading
from model.guards.roles.parts import BARRIER, DROPPED, PERSONS, Part, base, words_and_barriers
from model.guards.roles.symmetry import JOINING, SYMMETRIC

_CONJUNCTIONS: Final = frozenset(
    ["when", "if", "because", "before", "after", "once", "until", "whenever", "unless", "although", "though"]
)
_ASKING: Final = frozenset(["why", "how", "what", "where", "who", "do", "does", "did"])
"""Words that begin a question behind a clause without a comma."""
_ASKING_REASON: Final = frozenset(["why", "how", "when"])
_LEFT_OUT: Final = DROPPED | PERSONS.keys() | JOINING


class _Clauses(NamedTuple):
    """A sentence of two clauses.

    Attributes:
        conjunction: the word between the two, or before the first one.
        others: stems of all other clauses in alphabetical order.
        main: stems of the main clause in alphabetical order.
        clause: stems of the clause behind the conjunction in alphabetical order.
    """

    conjunction: str
    others: list[str]
    main: list[str]
    clause: list[str]


def clauses_exchanged(query: Reading, question: Reading) -> bool:
    """Return whether the clause after "when" in one text is the main clause of the other."""
    if _CONJUNCTIONS.isdisjoint(query.vocabulary & question.vocabulary):
        return False
    one, two = _clauses(query), _clauses(question)
    if one is None or two is None or one[:2] != two[:2] or one.main == one.clause:
        return False
    return one.main == two.clause and one.clause == two.main


def _clauses(reading: Reading) -> _Clauses | None:
    """Return the clauses of a text with one conjunction, or None where it is not clear where one ends.

    A conjunction at the start needs a comma or a question behind its clause: "when I cough, …", "when I cough why …".
    """
    words = words_and_barriers(reading)
    found = [place for place, word in enumerate(words) if word in _CONJUNCTIONS]
    places = [place for place in found if place or len(found) == 1]
    if len(places) != 1:
        return None
    at = places[0]
    before, behind = _split(words[:at]), _split(words[at + 1 :])
    if not at and len(behind) == 1:
        end = next((place for place, word in enumerate(behind[0]) if word in _ASKING), 0)
        behind = [behind[0][:end], behind[0][end:]]
    if len(behind) > 1 and words[at - 1 : at] in ([], [BARRIER]):
        clause, main, *others = [*behind, *before]
    elif before and behind:
        clause, main, *others = [behind[0], *before[::-1], *behind[1:]]
    else:
        return None
    if not _stems(main) or not _stems(clause):
        return None
    return _Clauses(words[at], _stems(itertools.chain(*others)), _stems(main), _stems(clause))


def _split(words: list[str]) -> list[list[str]]:
    """Return the parts between barriers; none if there are no words."""
    return [list(part) for is_barrier, part in itertools.groupby(words, BARRIER.__eq__) if not is_barrier]


def _stems(words: Iterable[str]) -> list[str]:
    """Return the stems of content words in alphabetical order."""
    return sorted(base(word) for word in words if word not in _LEFT_OUT)


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
