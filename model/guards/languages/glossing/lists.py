"""Word lists of the languages that are read as roots and glosses.

turkish.json, … and names.json -> Lists of a language
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from importlib import resources
from typing import Final

from model.guards.languages.glossing.plain import PLAIN
from model.guards.languages.language import Language, language_from_row
from model.guards.lists import read_json

LAST_LATIN: Final = "\u024f"
_SCRIPTS_OF_NAMES: Final = {"turkish": ("", LAST_LATIN), "arabic": ("\u0620", "\u064a")}
"""First and last letter of the scripts in which words of names are found behind prefixes or before endings."""
NAMES: Final = ("turkish", "arabic", "hindi", "chinese", "japanese")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lists:
    """Lists of a language.

    Attributes:
        language: the words of the rules, as roots and glosses.
        foreign: words that other languages in the same script have, or have too.
        before_numbers: expressions of a folded text and their replacements, before numbers are read.
        replacements: the same, after numbers are read: phrases whose negation changes no answer, glosses.
        glosses: gloss by its word.
        numbers: number by its word or character.
        units: English unit by the word of a unit.
        eras: year before the first one of an era, by its name.
        counters: words that count things; a number of one character is a number before these and units only.
        words: words that stay whole.
        suffixes: expressions of the endings of words.
        titles: expression of a name beside a word that shows it is one, "Doctor" or "station".
        needs: expression of a question, in two denials, whether a thing is needed: "can I not vote without it".
        names: words of names, Turkish and Arabic ones only.
    """

    language: Language
    foreign: frozenset[str]
    before_numbers: tuple[tuple[re.Pattern[str], str], ...]
    replacements: tuple[tuple[re.Pattern[str], str], ...]
    glosses: dict[str, str]
    numbers: dict[str, int]
    units: dict[str, str]
    eras: dict[str, int]
    counters: frozenset[str]
    words: frozenset[str]
    suffixes: tuple[tuple[re.Pattern[str], str], ...]
    titles: re.Pattern[str] | None
    needs: re.Pattern[str] | None
    names: frozenset[str]


@functools.cache
def lists_of(name: str) -> Lists:
    """Return the lists of a language."""
    text = resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    row = json.loads(PLAIN[name](text))
    glosses = {word: gloss for gloss, words in row["glosses"].items() for word in " ".join(words).split()}
    return Lists(
        language=language_from_row(name, row["rules"]),
        foreign=frozenset(" ".join(row["foreign"]).split()),
        before_numbers=_expressions(row["before_numbers"]),
        replacements=_expressions(row["replacements"]),
        glosses=glosses,
        numbers={word: int(value) for word, value in _pairs(row["numbers"])},
        units={word: unit for unit, words in row["units"].items() for word in words.split()},
        eras={era: int(year) for era, year in _pairs(row.get("eras", []))},
        counters=frozenset(" ".join(row["counters"]).split()),
        words=frozenset(" ".join(row["words"]).split()),
        suffixes=_expressions(row["suffixes"]),
        titles=re.compile(titles) if (titles := row.get("titles")) else None,
        needs=re.compile("|".join(needs)) if (needs := row.get("needs")) else None,
        names=_words_of_names(name),
    )


def _words_of_names(name: str) -> frozenset[str]:
    """Return the words of the names in a script whose words have endings or prefixes."""
    if name not in _SCRIPTS_OF_NAMES:
        return frozenset()
    first, last = _SCRIPTS_OF_NAMES[name]
    found = (word for rows in spellings().values() for names in rows for spelling in names for word in spelling.split())
    return frozenset(PLAIN[name](word) for word in found if first <= word[0] <= last)


@functools.cache
def spellings() -> dict[str, list[list[str]]]:
    """Return the spellings of names by class."""
    return {group: [line.split("|") for line in lines] for group, lines in read_json(__package__, "names.json").items()}


def replaced(text: str, expressions: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    """Return a text with the replacements of expressions, one after the other."""
    for expression, replacement in expressions:
        text = expression.sub(replacement, text)
    return text


def _expressions(rows: list[list[str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(expression), replacement) for expression, replacement in rows)


def _pairs(lines: list[str]) -> list[list[str]]:
    return [pair.split(":") for pair in " ".join(lines).split()]
