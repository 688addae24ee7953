"""Spellings of one name: abbreviations, parts, and nearly the same letters.

two names -> same_name -> whether they can be one
"""

from __future__ import annotations

from typing import Final

from model.guards.reading import stem, without_marks

SMALL: Final = frozenset(["of", "the", "and", "de", "la", "for", "in", "on"])
"""Words that names are compared without."""
_VOWELS: Final = frozenset("aeiou")


def same_name(one: str, two: str) -> bool:
    """Return whether two names can be spellings of one: an abbreviation, a part, or nearly the same letters."""
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
    return min(len(letters), len(whole)) > 3 and _distance(letters, whole) <= len(whole) // 3


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
