"""Describing words that exclude each other in one place: "the remote branch" and "the local branch".

describing.json -> kinds of description -> describes_otherwise, describes_the_same

A line of the list has descriptions of one kind, synonyms joined by commas: an annual fee is no monthly one, and a
yearly one is the same. Words of two lines are not compared: a fee can be small and annual.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from model.guards.lists import read_json

_LONGEST: Final = 3
"""Words of a description: "over the phone", with its determiner."""


def describes_otherwise(one: Sequence[str], two: Sequence[str], after: str) -> bool:
    """Return whether the words in which two texts differ describe a thing in two ways that exclude each other.

    Args:
        one: words of a text in lower case, without determiners.
        two: words of another.
        after: word behind both: the "oldest living animal" can be the "longest living" one.
    """
    first, second = _places(one), _places(two)
    common = first.keys() & second.keys()
    return bool(common) and after not in _before_others() and all(first[kind] != second[kind] for kind in common)


def describes_the_same(one: Sequence[str], two: Sequence[str]) -> bool:
    """Return whether two descriptions are synonyms: "hand" and "carry-on"."""
    first, second = _places(one), _places(two)
    return any(first[kind] == second[kind] for kind in first.keys() & second.keys())


def _places(words: Sequence[str]) -> Mapping[int, int]:
    """Return the number of the description within each kind that it belongs to."""
    return _kinds().get("_".join(words), {}) if len(words) <= _LONGEST else {}


@functools.cache
def _kinds() -> Mapping[str, Mapping[int, int]]:
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for kind, line in enumerate(_lists()["kinds"]):
        for place, group in enumerate(line.split()):
            for word in group.split(","):
                found[word][kind] = place
    return dict(found)


@functools.cache
def _before_others() -> frozenset[str]:
    return frozenset(_lists()["before_others"].split())


@functools.cache
def _lists() -> dict[str, Any]:
    lists: dict[str, Any] = read_json(__package__, "describing.json")
    return lists
