"""Turkish: a root, then endings for negation, ability, number and case.

plain text -> digits -> roots: "kartsiz odeyemez miyim" -> "kart without ot can"
"""

from __future__ import annotations

import functools
import re
from typing import Final

from model.guards.languages.glossing.lists import Lists
from model.guards.languages.glossing.numerals import alternatives, with_digits, with_units
from model.guards.languages.glossing.words import MARKS, TOKEN, cut, number_run, whole

_ENDING: Final = re.compile(
    r"\w{2,}(?:[iu]yor\w*|[ae]bil(?:ir|iyor|me)\w*|m[ae]z|[ae]c[ae][gk]\w*|[iu]r(?:s[iu]n|m)[iu]z|d[iu]g[iu]\w*|s[iu]z"
    r"|(?:[iu][ln]|y)[iu]nc[ae]|[dt][iu]kt[ae]n)"
    r"|\w{3,}leri(?:n|m|ni|mi|nde)?|m[iu](?:y[iu]m|s[iu]n[iu]z|y[iu]z)"
)
_AFTER_DIGITS: Final = re.compile(r"(?<=\d)'[a-z]+")
_QUESTION: Final = re.compile(r"m[iu](?:y[iu]m|s[iu]n(?:[iu]z)?|y[iu]z|yd[iu]\w*)?")
_HARD: Final = str.maketrans("bdg", "ptk")
_LONGEST_ENDING: Final = 7
_SHORTEST_WORD: Final = 3
_ROOT: Final = "xxx"
"""Root of an ending that stands alone."""


@functools.lru_cache(maxsize=4_096)
def has_ending(word: str) -> bool:
    """Return whether a plain word has an ending of verbs that other languages lack."""
    return _ENDING.fullmatch(word) is not None


def digits(text: str, lists: Lists) -> str:
    """Return a plain text with digits for number words, English units and no endings of numbers."""
    text = with_digits(text, number_run(lists, " ?"), lists.numbers, _number_word(lists).findall)
    return with_units(_AFTER_DIGITS.sub("", text), lists.units)


@functools.cache
def _number_word(lists: Lists) -> re.Pattern[str]:
    return re.compile(alternatives(lists.numbers))


def roots(text: str, lists: Lists, words: frozenset[str]) -> str:
    """Return a text as roots and glosses; a word is a root if another one of the same words has an ending after it."""
    tokens = TOKEN.findall(text.translate(MARKS))
    nouns = words | lists.names
    divided = {word: parts for word in words for parts in [_divided(word, lists, nouns)] if parts[1]}
    divided |= {noun: (noun, "") for noun in (*(noun for noun, _ in divided.values()), *(lists.names & words))}
    found: list[str] = []
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else "."
        if _QUESTION.fullmatch(token):
            if found and found[-1] == "not":
                found.pop()
            continue
        last = following == "." or _QUESTION.fullmatch(following) is not None
        found += _root(token, lists, divided, last=last)
    return " ".join(found).strip(" .")


def _root(token: str, lists: Lists, divided: dict[str, tuple[str, str]], *, last: bool) -> list[str]:
    word, _, ending = token.partition("'")
    if units := whole(word, lists):
        return units
    if ending or word in divided:
        noun, ending = (word, ending) if ending else divided[word]
        _, *glosses = cut(f"{_ROOT}{ending}", lists).split()
        return [_short(noun), *glosses]
    root, *glosses = cut(f"{word}#" if last else word, lists).removesuffix("#").split()
    return [_short(root), *glosses]


def _divided(word: str, lists: Lists, words: frozenset[str]) -> tuple[str, str]:
    """Return a noun and its ending if the noun is among the words too, else the word and nothing."""
    for end in range(max(_SHORTEST_WORD, len(word) - _LONGEST_ENDING), len(word)):
        if word[:end] in words and _is_ending(word[end:], lists):
            return word[:end], word[end:]
    return word, ""


def _is_ending(letters: str, lists: Lists) -> bool:
    return bool(letters) and cut(f"{_ROOT}{letters}", lists).split()[0] == _ROOT


def _short(root: str) -> str:
    """Return a root without a last vowel, which some endings replace, and with a hard last consonant."""
    short = root.rstrip("aeiou") if len(root.rstrip("aeiou")) > 1 else root
    return short[:-1] + short[-1].translate(_HARD)
