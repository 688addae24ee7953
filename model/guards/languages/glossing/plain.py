"""One form of letters that are written in several ways, by language.

folded text -> plain text
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from model.guards.reading import without_marks

_FRONT: Final = re.compile(r"\bön\b")
"""A front, and no ten, which is "on"."""
_VOWELS: Final = re.compile("[\u064b-\u065f\u0670\u0640]")
_EXCEPT: Final = re.compile(r"\bإلا\b")
_REALLY: Final = re.compile(r"\b(?:أليست?|ألستم|أما(?= (?:يمكن|يوجد|توجد|تقدر|بإمكان|زال|هناك)))\b")
_REALLY_NOT: Final = re.compile(r"\bألا\b")
_ARABIC: Final = str.maketrans("أإآٱىةؤئ٫٬", "ااااي" + "ه" + "وي" + ".,")
_HINDI: Final = str.maketrans("ािीुूृेैोौॉॅंँ", "आइईउऊऋएऐओऔऑऍङङ", "़्\u200d\u200c")
"""Vowel signs as the letters of these vowels, so that a word is a run of letters; other signs are left out."""


def turkish(folded: str) -> str:
    """Return a folded text in Latin letters without marks."""
    return without_marks(_FRONT.sub("oen", folded)).replace("ı", "i")


def arabic(folded: str) -> str:
    """Return a folded text without vowel signs, with one form of each letter and European digits."""
    text = _REALLY_NOT.sub("هل لا", _VOWELS.sub("", folded))
    text = _REALLY.sub("هل", _EXCEPT.sub("باستثناء", text))
    return _european_digits(text.translate(_ARABIC))


def hindi(folded: str) -> str:
    """Return a folded text in letters without signs, and European digits."""
    return _european_digits(folded.translate(_HINDI))


def _european_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in text)


PLAIN: Final[dict[str, Callable[[str], str]]] = {
    "turkish": turkish,
    "arabic": arabic,
    "hindi": hindi,
    "chinese": str,
    "japanese": str,
}
"""Plain text of a folded one, by language."""
