"""Spellings of one name: abbreviations, parts, nearly the same letters, and names of a list.

two names -> same_name -> whether they can be one
"""

from __future__ import annotations

import functools
import re
from collections.abc import Set
from typing import Final

from model.guards.lists import listed
from model.guards.reading import stem, without_marks

SMALL: Final = frozenset(["of", "the", "and", "de", "la", "for", "in", "on"])
"""Words that names are compared without."""
_VOWELS: Final = frozenset("aeiou")
_DIGIT: Final = re.compile("[0-9]")
_FORMULA: Final = re.compile(r"(?:(?:Al|C|Ca|Cl|Cu|F|Fe|H|K|Mg|Mn|N|Na|O|P|Pb|S|Si|Ti|Zn)\d*)+")
"""A chemical formula: CO2."""


def same_name(one: str, two: str) -> bool:
    """Return whether two names can be spellings of one: an abbreviation, a part, or nearly the same letters."""
    if _DIGIT.search(one + two) and _FORMULA.fullmatch(one) and _FORMULA.fullmatch(two):
        return one == two
    short, long = sorted((one, two), key=len)
    first, second = ({stem(word) for word in name.lower().split() if word not in SMALL} for name in (one, two))
    if first & second:
        return True
    letters, whole = (without_marks("".join(filter(str.isalpha, text)).casefold()) for text in (short, long))
    if letters.isascii() != whole.isascii():  # "Instagram" in another script
        return True
    if letters in whole or whole in letters:
        return True
    if len(letters) <= 5 and letters[0] == whole[0] and _is_abbreviation(letters, short, long):
        return True
    if min(len(letters), len(whole)) > 3 and _distance(letters, whole) <= len(whole) // 3:
        return True
    parts, others = one.split(), two.split()
    if len(parts) == len(others) > 1 and all(map(same_name, parts, others)):  # "Man Utd"
        return True
    return not _listed_as(one).isdisjoint(_listed_as(two))


def abbreviates(one: str, two: str, following: str) -> bool:
    """Return whether a name has the initials of the other one and of the word behind both.

    "ISIC card" is "International Student Identity Card".
    """
    short, long = sorted((one, two), key=len)
    initials = "".join(word[0] for word in f"{long} {following}".split() if word not in SMALL)
    return len(short) > 1 and short.casefold() == initials.casefold()


def _listed_as(name: str) -> Set[str]:
    """Return the first names that a name stands for: "nacl" for "NaCl", "table salt" and "sodium chloride"."""
    words = without_marks(name.casefold()).split()
    key = "_".join(words[1:] if words[0] == "the" else words)
    return _first_names().get(key, frozenset())


@functools.cache
def _first_names() -> dict[str, Set[str]]:
    """Return the first names of each name in the list of names that are the same: "München" and "Munich"."""
    found: dict[str, set[str]] = {}
    for line in listed("same_names"):
        first, other = map(without_marks, line.split("="))
        for name in (first, other):
            found.setdefault(name, set()).add(first)
    return dict(found)


def _is_abbreviation(letters: str, short: str, long: str) -> bool:
    """Return whether the letters are the initials or capitals of a name, or capitals that occur in it in order.

    So are the first and the last letter of a word with consonants between them: "St." and "Utd".
    """
    words = without_marks(long.casefold()).split()
    initials = ("".join(word[0] for word in words), "".join(word[0] for word in words if word not in SMALL))
    capitals = "".join(filter(str.isupper, long)).lower()
    if letters in (*initials, capitals):
        return True
    rest = iter(long.lower())
    if not all(letter in rest for letter in letters):
        return False
    contracted = letters[-1] == long.lower().rstrip(".")[-1] and _VOWELS.isdisjoint(letters[1:])
    return contracted or (short[:2].isupper() and len(letters) <= 4)


def _distance(one: str, two: str) -> int:
    """Return the edit distance of two names of at most 40 letters; two neighbors exchanged are one edit."""
    one, two = one[:40], two[:40]
    before: list[int] = []
    row = list(range(len(two) + 1))
    for place, letter in enumerate(one, start=1):
        last, before, row = before, row, [place]
        for column, other in enumerate(two, start=1):
            edits = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other))
            if column > 1 and last and (letter, other) == (two[column - 2], one[place - 2]):
                edits = min(edits, last[column - 2] + 1)
            row.append(edits)
    return row[-1]
