"""Word stems, so that "invested" equals "investing".

words -> stem -> stems
"""

from __future__ import annotations

import functools
from typing import Final

_ENDINGS: Final = (
    ("ations", "at"), ("ation", "at"), ("ities", "it"), ("ity", "it"), ("ments", "ment"), ("nesses", ""), ("ness", ""),
    ("ings", ""), ("ing", ""), ("iest", "y"), ("ier", "y"), ("ied", "y"), ("ies", "y"), ("edly", ""), ("ed", ""),
    ("ers", ""), ("er", ""), ("ors", ""), ("or", ""), ("ally", "al"), ("ly", ""), ("sses", "ss"), ("xes", "x"),
    ("ches", "ch"), ("shes", "sh"), ("s", ""),
)  # fmt: skip
_SHORTEST: Final = 3
_DOUBLED: Final = frozenset(c + c for c in "bdfgkmnprtz")
_KEEP_S: Final = ("ss", "us", "is")


@functools.lru_cache(maxsize=2**17)  # the words of one shard are those of the next
def stem(word: str) -> str:
    """Return ``word`` without a common English ending; words of other languages lose at most a few letters.

    One ending, a doubled consonant and a final e or y are removed, fewer than by Porter's stemmer. A longer word keeps
    at least three letters.
    """
    if len(word) <= _SHORTEST or not word.isalpha() or not word.isascii():
        return word
    return _finish(_without_ending(word))


def _without_ending(word: str) -> str:
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) + len(replacement) >= _SHORTEST:
            return word if ending == "s" and word.endswith(_KEEP_S) else word[: -len(ending)] + replacement
    return word


def _finish(word: str) -> str:
    if len(word) > _SHORTEST and word[-2:] in _DOUBLED:
        return word[:-1]
    if len(word) > _SHORTEST and word[-1] in "ey":
        return word[:-1]
    return word
