"""Texts of words with spaces between them, which the modules of the languages share.

text with digits -> words and marks -> roots and glosses
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Final

from model.guards.languages.glossing.lists import Lists
from model.guards.languages.glossing.numerals import expression_of

TOKEN: Final = re.compile(r"\d+(?:[.,:/]\d+)*(?:th)?|[^\W\d_]+(?:'[^\W\d_]+)?|[,;:.!%]")
"""A number, a word or a mark of punctuation."""
MARKS: Final = str.maketrans(dict.fromkeys("?؟।.。！!？", ".") | dict.fromkeys("，、؛；", ","))
"""Question marks are dots: which questions are for yes or no is found by the words of these languages."""


@functools.cache
def number_run(lists: Lists, joint: str = " ") -> re.Pattern[str]:
    """Return the expression of a run of number words of a language."""
    return expression_of(lists.numbers, joint)


def joined(text: str, lists: Lists, root: Callable[[str], list[str]]) -> str:
    """Return a text as roots and glosses with spaces between them.

    Args:
        text: with digits.
        lists: of its language.
        root: function that cuts a word which no list has.
    """
    tokens = TOKEN.findall(text.translate(MARKS))
    return " ".join(unit for token in tokens for unit in whole(token, lists) or root(token)).strip(" .")


def whole(token: str, lists: Lists) -> list[str]:
    """Return the glosses of a word, or a function word, number or mark as it is; nothing for other words."""
    if gloss := lists.glosses.get(token):
        return gloss.split()
    return [token] if not token[0].isalpha() or token in lists.language.functions else []


@functools.lru_cache(maxsize=4_096)
def cut(word: str, lists: Lists) -> str:
    """Return the root and glosses of a word by the first expression of its endings."""
    for expression, replacement in lists.suffixes:
        if match := expression.fullmatch(word):
            return match.expand(replacement)
    return word
