"""Numbers of phones and accounts in words, digit by digit, as a speech recogniser writes them.

text -> SPOKEN -> spans of runs of digits in words
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from pipelines.privacy.matching import Kind, Span

FEWEST: Final = 9
"""Digits of the shortest run, as of a number in digits."""

_DIGITS: Final = (
    ("zero", "null", "cero", "zéro", "nul"),
    ("one", "eins", "uno", "un", "een", "één"),
    ("two", "zwei", "zwo", "dos", "deux", "due", "dois", "twee"),
    ("three", "drei", "tres", "trois", "tre", "três", "drie"),
    ("four", "vier", "cuatro", "quatre", "quattro", "quatro"),
    ("five", "fünf", "cinco", "cinq", "cinque", "vijf"),
    ("six", "sechs", "seis", "sei", "zes"),
    ("seven", "sieben", "siete", "sept", "sette", "sete", "zeven"),
    ("eight", "acht", "ocho", "huit", "otto", "oito"),
    ("nine", "neun", "nueve", "neuf", "nove", "negen"),
)
"""Words of the digits in English, German, Spanish, French, Italian, Portuguese and Dutch."""

_VALUES: Final = {word: digit for digit, words in enumerate(_DIGITS) for word in words} | {"oh": 0, "o": 0}
_WORD: Final = "(?:" + "|".join(sorted(_VALUES, key=lambda word: (-len(word), word))) + ")"
_TIMES: Final = {"double": 2, "triple": 3}
"""Words that repeat the digit behind them."""

_REPEATED: Final = f"(?:{'|'.join(_TIMES)})"
_FEWEST_WORDS: Final = FEWEST // max(_TIMES.values())
_FILLERS: Final = "(?:um|uhm?|erm?|ähm?|euh|eh)"
"""Sounds between two digits; the Portuguese word for 1 is one of them."""


def _run(separator: str) -> str:
    """Return the pattern of a digit and all up to the next one."""
    return rf"{_WORD}{separator}(?:{_FILLERS}{separator}){{0,2}}(?:{_REPEATED}{separator})?"


CANDIDATE: Final = "(?i:" + _run(r"[^\pL\pN]+") + _WORD + ")"
"""Two digits beside each other, which every number has (RE2)."""


def _numbers(match: str) -> Sequence[Span]:
    """Return the whole run, unless it is short, only counts up or down, or has no other digits than 0 and 1."""
    digits: list[int] = []
    times = 1
    for word in re.findall(r"[^\W\d_]+", match.lower()):
        digits += [_VALUES[word]] * times if word in _VALUES else []
        times = _TIMES.get(word, 1)
    steps = {later - earlier for earlier, later in itertools.pairwise(digits)}
    # 0 follows 9, and in a count down 9 follows 0
    plain = steps <= {1, -9} or steps <= {-1, 9} or set(digits) <= {0, 1}
    return [] if plain or len(digits) < FEWEST else [(0, len(match))]


_GAP: Final = "[ ,.-]{1,3}"

SPOKEN: Final = Kind(
    "number",
    re.compile(rf"(?<!\w)(?:{_REPEATED}{_GAP})?(?:{_run(_GAP)}){{{_FEWEST_WORDS - 1},}}{_WORD}(?!\w)", re.I),
    _numbers,
)
"""The kind of `pipelines.privacy.patterns` with these numbers; a run that only counts is none."""
