"""Numerals of several words: "treinta y cinco", "mille deux cents", "триста тысяч", "dwudziestej pierwszej".

text, language -> text with digits
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from model.guards.languages.language import Language
from model.guards.reading import LETTERS

_JOINERS: Final = frozenset(("y", "e", "et", "i"))
_GAPS: Final = frozenset((" ", "-"))
_POWERS: Final = frozenset((1_000, 1_000_000))


class _Numeral(NamedTuple):
    value: int
    ordinal: bool


def with_digits(plain: str, language: Language) -> str:
    """Return a text without marks, with digits for each numeral: "20th" for an ordinal one."""
    words = list(LETTERS.finditer(plain))
    parts, written, place = [], 0, 0
    while place < len(words):
        first, word = place, words[place][0]
        if word not in language.cardinals and word not in language.ordinals:
            place += 1
            continue
        numeral = _numeral(word, language)
        while numeral is not None and (following := _following(plain, words, place, numeral, language)):
            place, numeral = following
        digits = language.cardinals.get(word) if place == first else None  # "1.5" too
        if numeral is not None:
            digits = f"{numeral.value}th" if numeral.ordinal else str(numeral.value)
        if digits is not None:
            parts += [plain[written : words[first].start()], digits]
            written = words[place].end()
        place += 1
    return "".join((*parts, plain[written:]))


def _numeral(word: str, language: Language) -> _Numeral | None:
    if ordinal := language.ordinals.get(word):
        return _Numeral(int(ordinal), True)
    cardinal = language.cardinals.get(word, "")
    return _Numeral(int(cardinal), False) if cardinal.isdecimal() else None


def _following(
    plain: str, words: list[re.Match[str]], place: int, numeral: _Numeral, language: Language
) -> tuple[int, _Numeral] | None:
    """Return the place of the next word of a numeral, which may stand behind "and", and the numeral with it."""
    for after in (place + 1, place + 2):
        if after >= len(words) or plain[words[after - 1].end() : words[after].start()] not in _GAPS:
            return None
        word = words[after][0]
        if after == place + 1 and word in _JOINERS:
            continue
        part = _Numeral(1, False) if word in language.ones else _numeral(word, language)
        joined = part and _joined(numeral, part, language)
        return (after, joined) if joined else None
    return None


def _joined(numeral: _Numeral, part: _Numeral, language: Language) -> _Numeral | None:
    """Return a numeral with one more word, or None if that begins another one: "zwei drei"."""
    total, value = numeral.value, part.value
    if numeral.ordinal or part.ordinal:  # "treinta segundos" are 30 seconds
        both = part.ordinal and (numeral.ordinal or language.free_order)
        return _Numeral(total + value, True) if both and _has_room(total, value) and value < 10 else None
    low = total % 1_000
    if value in _POWERS:
        factor = low if value == 1_000 else total
        return _Numeral(total - factor + factor * value, False) if 0 < factor < 1_000 else None
    if value == 100 and 1 < low < 10:
        return _Numeral(total - low + 100 * low, False)
    return _Numeral(total + value, False) if _has_room(total, value) else None


def _has_room(total: int, value: int) -> bool:
    """Return whether a number ends in zeros where a smaller one has digits, and "ten three" is none."""
    size = 10 ** len(str(value))
    return total > value and total % size == 0 and (size > 10 or total % 100 != 10)
