"""Denials that change no answer beside another text: a complaint before its question, two that cancel each other.

two texts as roots and glosses -> affirmed -> one of them without such denials

"I cannot log in, how do I log in" asks the same as "how do I log in", and "can I not vote without a passport" the same
as "do I need a passport to vote".
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from model.guards.languages.glossing.lists import Lists

_NOT: Final = "not"
_DENIALS: Final = frozenset((_NOT, "without"))
_MARKS: Final = frozenset(",;:.")


def affirmed(text: str, other: str, plain: str, lists: Lists) -> str:
    """Return a text as roots and glosses without denials that change no answer; with them if the other denies too.

    Args:
        text: roots and glosses.
        other: those of the text that it is compared with.
        plain: the first text before it was cut.
        lists: of the language of both.
    """
    words, others = text.split(), other.split()
    if _DENIALS.isdisjoint(words) or not _DENIALS.isdisjoint(others):
        return text
    if lists.needs is not None and lists.needs.search(plain):
        return " ".join(word for word in words if word not in _DENIALS)
    if lists.language.ways.isdisjoint(words):
        return text
    kept = [word for place, word in enumerate(words) if word != _NOT or not _is_asked(words, place, others, lists)]
    return " ".join(kept)


def _is_asked(words: list[str], place: int, others: list[str], lists: Lists) -> bool:
    """Return whether a word beside a denial occurs once more than in the other text: in the question behind it."""
    functions = lists.language.functions
    beside = _first_content(words[:place][::-1], functions), _first_content(words[place + 1 :], functions)
    return any(word and words.count(word) > others.count(word) > 0 for word in beside)


def _first_content(words: Sequence[str], functions: Set[str]) -> str:
    """Return the first word that is no function word, empty behind a mark of punctuation."""
    for word in words:
        if word in _MARKS:
            return ""
        if word not in functions and word not in _DENIALS:
            return word
    return ""
