"""Types of answers in other languages than English: "wann öffnet die Bibliothek" and "wo ist die Bibliothek".

two readings -> language -> question words and nouns of properties -> types that no answer can have together

A text asks by a question word ("wann", "combien coûte", 什么时候) or by the noun of a property ("prix", "adresse").
The rest of both texts has to be about the same thing.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Set
from typing import Any, Final, NamedTuple

from model.guards.languages.glossing.plain import PLAIN
from model.guards.languages.glossing.scripts import language_of
from model.guards.languages.language import Language, languages
from model.guards.languages.recognition import possible_languages
from model.guards.lists import read_json
from model.guards.reading import RUN, Reading, plain
from schemas.text import fold

_MOST_CHARACTERS: Final = 300
"""Longer texts ask for more than one thing."""
_SAME_THING: Final = 0.5
"""Share of the content words of the longer text, without those that ask, that the other has too."""
_COUNT_AND_HEIGHT: Final = frozenset(("count", "height"))
_WITHOUT_SPACES: Final = ("chinese", "japanese")
_BREAK: Final = "|"
_CLAUSE_END: Final = re.compile("[.,:;?!¿¡؟،。？！，、()–—]+")
_UNIT: Final = re.compile(rf"{re.escape(_BREAK)}|{RUN.pattern}")
_WHERE: Final = re.compile(r"\boù\b|^ou\b")
"""French "où", and "ou" at the start of a text: elsewhere that is "or"."""


class _Words(NamedTuple):
    """How a language asks.

    Attributes:
        phrases: expression of all question words and nouns of properties, the longest first.
        types: type of answer by its phrase.
        left_out: words that name no thing.
        at_start: words that ask at the start of a clause only, "cuando": elsewhere they join clauses.
        before: words behind which these ask too, "saber cuando".
        prepositions: words that may stand before these, "desde cuando".
        mine: expression of what the writer has: "where is my order" asks when it comes.
        me: expression of the writer: "where can I get help" asks who helps.
    """

    phrases: re.Pattern[str]
    types: dict[str, str]
    left_out: frozenset[str]
    at_start: frozenset[str]
    before: frozenset[str]
    prepositions: frozenset[str]
    mine: re.Pattern[str]
    me: re.Pattern[str]


class _Asked(NamedTuple):
    kind: str
    things: frozenset[str]
    is_mine: bool
    is_me: bool


def asks_for_another_type(query: Reading, question: Reading) -> bool:
    """Return whether two texts in a language other than English ask for different properties of a thing. Symmetric."""
    is_ascii = query.folded.isascii() and question.folded.isascii()
    if (is_ascii and query.is_english and question.is_english) or query.folded == question.folded:
        return False
    if max(len(query.folded), len(question.folded)) > _MOST_CHARACTERS:
        return False
    if name := language_of(query, question):
        pairs = [(_asked_with_glosses(query, name), _asked_with_glosses(question, name))]
    else:
        found = possible_languages(query, question)
        pairs = [(_asked(query, language), _asked(question, language)) for language in found]
    both = [(one, two) for one, two in pairs if one and two]
    return bool(both) and all(_differ(one, two) for one, two in both)


def _differ(one: _Asked, two: _Asked) -> bool:
    if one.kind == two.kind:
        return False
    kinds = frozenset((one.kind, two.kind))
    if kinds in _pairs("compatible"):
        return False
    is_same = one.things == two.things
    if one.is_mine and two.is_mine and kinds in _pairs("compatible_of_mine") and not (is_same and len(one.things) > 1):
        return False
    if (one.is_me or two.is_me) and kinds in _pairs("compatible_of_me"):
        return False
    if kinds in _pairs("compatible_unless_all_else_is_equal"):
        return is_same
    if "which" in kinds or kinds == _COUNT_AND_HEIGHT:  # "in welchen Straßen gilt er" alone has "Straßen"
        return len(one.things ^ two.things) == 1
    return share_things(one.things, two.things)


def share_things(one: Set[str], two: Set[str]) -> bool:
    """Return whether two texts have half of the content words of the longer one in common."""
    return len(one & two) >= _SAME_THING * max(1, len(one), len(two))


def _asked(reading: Reading, language: Language) -> _Asked | None:
    folded = _WHERE.sub("qou", reading.folded) if language.name == "french" else reading.folded
    left_out = language.functions | language.prepositions | language.articles
    return _ask(_spaced(plain(folded)), language.name, left_out, language.stem)


def _asked_with_glosses(reading: Reading, name: str) -> _Asked | None:
    text = PLAIN[name](reading.folded)
    return _ask(text if name in _WITHOUT_SPACES else _spaced(text), name, _table(name).left_out, str)


def _spaced(text: str) -> str:
    """Return words and the ends of clauses, with a space around each."""
    return f" {_BREAK} {' '.join(_UNIT.findall(_CLAUSE_END.sub(f' {_BREAK} ', text)))} "


def _ask(text: str, name: str, left_out: frozenset[str], stem: Callable[[str], str]) -> _Asked | None:
    """Return the one type that a text asks for and of what; None if there are none or several types."""
    table = _table(name)
    asking = [match for match in table.phrases.finditer(text) if _does_ask(match, text, table)]
    kinds = {table.types[match[0]] for match in asking}
    for weak in ("weak", "weaker_than_nouns"):  # "wie hoch ist der Preis", "in welchen Farben"
        kinds = kinds - _types(weak) or kinds
    if len(kinds) != 1 or kinds <= _types("undecided"):
        return None
    for match in reversed(asking):
        text = f"{text[: match.start()]} {text[match.end() :]}"
    units = itertools.chain.from_iterable(RUN.findall(text)) if name in _WITHOUT_SPACES else RUN.findall(text)
    things = frozenset(stem(unit) for unit in units if unit not in left_out)
    return _Asked(kinds.pop(), things, table.mine.search(text) is not None, table.me.search(text) is not None)


def _does_ask(match: re.Match[str], text: str, table: _Words) -> bool:
    if match[0] not in table.at_start:
        return True
    before = next((word for word in reversed(text[: match.start()].split()) if word not in table.prepositions), _BREAK)
    return before == _BREAK or before in table.before


@functools.cache
def _table(name: str) -> _Words:
    row = _file()["languages"][name]
    left_out = frozenset(_plain(row.get("left_out", ""), name).split())
    spaced = name not in _WITHOUT_SPACES
    which = itertools.product(row["asking"]["which"].split("|"), row["times"].split("|"))
    types = {_phrase((" " if spaced else "").join(words), name): "time" for words in which}  # "welchen Monaten"
    types |= {_phrase(phrase, name): kind for kind, line in row["asking"].items() for phrase in line.split("|")}
    longest_first = sorted(types, key=lambda phrase: (-len(phrase), phrase))
    either = "|".join(map(re.escape, longest_first))
    mine, me = ("|".join(_plain(row[field], name).split()) for field in ("mine", "me"))
    return _Words(
        phrases=re.compile(rf"(?<= )(?:{either})(?= )" if spaced else either),
        types=types,
        left_out=left_out,
        at_start=frozenset(row.get("at_start", "").split()),
        before=frozenset(row.get("before", "").split()),
        prepositions=next((language.prepositions for language in languages() if language.name == name), frozenset()),
        mine=re.compile(rf"\b(?:{mine})\b" if spaced else mine),
        me=re.compile(rf"\b(?:{me})\b" if spaced else me),
    )


def _phrase(text: str, name: str) -> str:
    """Return a phrase as a text has it: "e mail adresse" for "E-Mail-Adresse"."""
    return _plain(text, name) if name in _WITHOUT_SPACES else " ".join(RUN.findall(_plain(text, name)))


def _plain(text: str, name: str) -> str:
    return PLAIN[name](fold(text)) if name in PLAIN else plain(fold(text))


@functools.cache
def _pairs(name: str) -> frozenset[frozenset[str]]:
    """Return pairs of types that one answer can have: a person and a place to turn to."""
    return frozenset(frozenset(pair.split()) for pair in _file()[name])


@functools.cache
def _types(name: str) -> frozenset[str]:
    """Return types that others in the same text overrule."""
    return frozenset(_file()[name])


@functools.cache
def _file() -> dict[str, Any]:
    tables: dict[str, Any] = read_json(__package__, "question_words.json")
    return tables
