"""Stems: words without the endings of their language.

word, endings -> stem
"""

from __future__ import annotations

import re
from typing import Final

from model.guards.reading import stem

_INFINITIVE: Final = re.compile(r"(?<=\w{4}[aei])re?$")
_FLEETING: Final = re.compile(r"(?<=[^\W\d_]{3})[eoео](?=[kкц]$)|(?<=[^\W\d_]{4})e(?=c$)")
"""Vowel that some forms of Polish and Russian words lack: "dziadek" and "dziadka", but not "dziec" of "dzieci"."""


def stem_of(word: str, endings: tuple[str, ...]) -> str:
    """Return a word without its endings, at least three letters.

    Args:
        word: in lower case without marks.
        endings: of the language, longest first; none: those of `model.guards.reading.stem`.
    """
    if not endings:
        return stem(word)
    while ending := next((end for end in endings if word.endswith(end) and len(word) - len(end) >= 3), ""):
        word = word[: -len(ending)]
    return _FLEETING.sub("", word)


def stems_of(words: list[str], endings: tuple[str, ...]) -> set[str]:
    """Return the stems of words, without endings listed also those of verbs without the ending of an infinitive."""
    verbs = [] if endings else [_INFINITIVE.sub("", word) for word in words]
    return {stem_of(word, endings) for word in (*words, *verbs)}
