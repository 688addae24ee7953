"""Two sides of a verb that are exchanged: "my neighbour reported me" and "I reported my neighbour".

parts -> windows A, verb, B -> exchange
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Final

from model.guards.roles.parts import BARRIER, NO_SIDES, PERSONS, POSSESSIVES, Part

_PERSON_STEMS: Final = frozenset(PERSONS.values())
_MOST_BETWEEN: Final = 3
_ADVERB: Final = re.compile(r"(?:[aeiou]l|ful|ous|ent|ant|iv|ing|ed|at|ect|ick|ar|ib|ab|im|om)ly$")
"""Endings of adverbs, which no nouns in -ly have ("family", "supply", "assembly")."""
_MUTUAL: Final = frozenset(["for", "in", "of", "with"])
"""Prepositions that have no direction between two things: "lens for a camera" and "A merges with B"."""
_Window = tuple[tuple[str, tuple[str, ...]], tuple[str, ...], tuple[str, tuple[str, ...]]]


def sides_exchanged(first: list[Part], second: list[Part], passive: Set[str] = frozenset()) -> bool:
    """Return whether A, verb, B in one text are B, verb, A in the other, and neither has both.

    Args:
        first: parts of one text.
        second: parts of the other text.
        passive: stems of verbs that are passive, without an agent, in one text alone.
    """
    ours, theirs = set(_windows(first)), set(_windows(second))
    for window in ours - theirs:
        (mark, left), between, (other, right) = window
        if not passive.isdisjoint((*left, *between, *right)):
            continue
        turned = ((mark, right), between, (other, left))
        if turned in theirs and turned not in ours:
            words = {*left, *between, *right} - _PERSON_STEMS
            return not any(_is_repeated(words, parts) for parts in (first, second))
    return False


def _is_repeated(words: Set[str], parts: list[Part]) -> bool:
    """Return whether one of the words occurs twice: "I like her, does she like me" has both directions."""
    stems = [part.stem for part in parts]
    return any(stems.count(one) > 1 for one in words)


def _windows(parts: list[Part]) -> Iterator[_Window]:
    """Return all A, verb, B: one to three parts between A and B, of which one is longer if the other is a person."""
    for begin, left in enumerate(parts):
        for end in range(begin + 2, min(begin + 2 + _MOST_BETWEEN, len(parts))):
            inner, right = parts[begin + 1 : end], parts[end]
            if BARRIER in (left.stem, right.stem, *(part.stem for part in inner)) or inner[-1].stem.isdecimal():
                break
            if left.stem == right.stem or not _is_directed(left, inner, right):
                continue
            between = tuple(f"{part.mark.removeprefix('to')} {part.stem}".lstrip() for part in inner)
            for before in range(_longest(left, right, parts[:begin][::-1]) + 1):
                for after in range(_longest(right, left, parts[end + 1 :]) + 1):
                    subject = tuple(part.stem for part in parts[begin - before : begin + 1])
                    objects = tuple(part.stem for part in parts[end : end + after + 1])
                    yield (parts[begin - before].mark, subject), between, (right.mark, objects)


def _is_directed(left: Part, inner: list[Part], right: Part) -> bool:
    """Return whether two sides can be exchanged: not those of "my card works", and "lens for A" without a person."""
    if left.word in POSSESSIVES and not left.mark:
        return False
    if inner[0].word in PERSONS or inner[-1].word in PERSONS:  # "the money I hold in A"
        return False
    if any(_is_no_side(part) for part in (left, right)):
        return False
    if right.mark in _MUTUAL and left.word not in PERSONS and right.word not in PERSONS:
        return False
    return not all(part.word.endswith("ing") or part.word in PERSONS for part in inner)


def _is_no_side(part: Part) -> bool:
    """Return whether a word is no person or thing: "automatically", "possible", "mean"."""
    return part.stem in NO_SIDES or _ADVERB.search(part.word) is not None


def _longest(part: Part, other: Part, following: list[Part]) -> int:
    """Return how many parts more belong to a name, at most two, if the other side is a person."""
    if other.word not in PERSONS or part.word in PERSONS:
        return 0
    count = 0
    for one in following[:2]:
        if one.stem == BARRIER or one.word in PERSONS:
            break
        count += 1
    return count
