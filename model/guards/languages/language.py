"""Languages that the guards read beside English, by lists of words: German, Dutch, Spanish, French, Italian and others.

languages.json -> languages

A list has words in lower case without the marks of Latin letters, since many people leave these out: "que" is "qué".
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from typing import Any, Final

from model.guards.languages.compounds import with_glued
from model.guards.languages.rows import pairs_of, prefixes_of, rules_of
from model.guards.languages.stems import stem_of, stems_of
from model.guards.lists import read_json

_NEVER: Final = "(?!)"
"""Expression of nothing."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """Word lists of a language.

    Attributes:
        name: English name in lower case.
        functions: words that may differ beside a negation: articles, pronouns, auxiliary verbs, question words.
        typical: other words by which the language is recognized, "trein".
        foreign: expression of letters and words of its neighbors, which are read by no rule: Ukrainian is no Russian.
        denial: expression of the words that deny a clause, "nicht".
        without: expression of "without".
        only: words for "only".
        excepted: expression of "but" and "except": "nothing but cash" is "only cash".
        greeting: expression of a greeting, which is no clause of the question after it.
        spoken: words that deny without another word in speech, but mean more too: "ça marche plus".
        harmless: expression of phrases whose negation changes no answer: tags, polite requests, "not only".
        openers: words of a text that is no plain yes-no question: question words, "if", relative pronouns.
        polar: words that begin a yes-no question, among them an opener that is "whether" wherever it stands.
        ways: question words for the way to do or find something, "how" and "where".
        abilities: verbs that people deny in place of such a question: "I cannot", "I do not find".
        times: words for "when"; people deny that something came in place of such a question: "it has not arrived".
        required: words by which a thing is needed: "do I need a ticket" asks the same as "can I enter without one".
        prefixes: prefixes of two opposite words with the same rest, "un" and "", and the rests for which this holds:
            "wydrukować" is no opposite of "drukować".
        opposites: pairs of opposite stems.
        until: words by which "open" is the opposite of what it is without them: "open until eight", "closed at eight".
        prepositions: words that show the role of the word after them, wherever it stands; in German also articles.
        particles: pairs of function words that turn a verb into its opposite, "an" and "aus".
        articles: words that have no place in the order of words.
        behind_prepositions: articles that have no place behind a preposition, but show the role of a word elsewhere.
        contractions: word by its preposition without the article.
        conjunctions: words between two parts that can change places, "and".
        symmetric: words by which parts can change places, "between", "difference".
        sequence: words by which "and" has a direction, "then".
        acts: expression of the writer as subject, "I have".
        acted_on: expression of the writer as object, "has … me".
        fronted: expression of an object before the verb that a pronoun repeats: "la carta la blocca la banca".
        sides: expression of words whose two sides cannot change places: "before", "than", and those of `sequence`.
        free_order: cases, and not places, name the roles of words.
        capitals_are_names: a capital within a sentence begins a name.
        endings: endings of words, longest first; none: those of `model.guards.reading.stem`.
        cardinals: number by its word.
        ordinals: number by its word.
        ones: words that are an article or the number one.
        number_compounds: expression of a number that begins a word, "zweijährig".
        number_phrases: expressions and their text with a number: "halbe Stunde" is "30 minuten".
        clock: expressions of an hour in digits, and the minutes from it: "halb 9".
        halves: words beside which "one" is no number: "one litre and a half", "one double charge".
        day_parts: words that make "four" 16 hours.
        longest_part: words of the longest part that can change its place with another one.
        cases: words that show the role of the word before them.
    """

    name: str
    functions: frozenset[str]
    typical: frozenset[str]
    foreign: re.Pattern[str]
    denial: re.Pattern[str]
    without: re.Pattern[str]
    only: frozenset[str]
    excepted: re.Pattern[str]
    greeting: re.Pattern[str]
    spoken: frozenset[str]
    harmless: re.Pattern[str]
    openers: frozenset[str]
    polar: frozenset[str]
    ways: frozenset[str]
    abilities: frozenset[str]
    times: frozenset[str]
    required: frozenset[str]
    prefixes: tuple[tuple[str, str, re.Pattern[str]], ...]
    opposites: frozenset[tuple[str, str]]
    particles: frozenset[tuple[str, str]]
    until: frozenset[str]
    prepositions: frozenset[str]
    articles: frozenset[str]
    behind_prepositions: frozenset[str]
    contractions: dict[str, str]
    conjunctions: frozenset[str]
    symmetric: frozenset[str]
    sequence: frozenset[str]
    acts: re.Pattern[str]
    acted_on: re.Pattern[str]
    fronted: re.Pattern[str]
    sides: re.Pattern[str]
    free_order: bool
    capitals_are_names: bool
    endings: tuple[str, ...]
    cardinals: dict[str, str]
    ordinals: dict[str, str]
    ones: frozenset[str]
    number_compounds: re.Pattern[str]
    number_phrases: tuple[tuple[re.Pattern[str], str], ...]
    clock: tuple[tuple[re.Pattern[str], int], ...]
    halves: frozenset[str]
    day_parts: frozenset[str]
    longest_part: int
    cases: frozenset[str]

    def stem(self, word: str) -> str:
        """Return a word without its ending, at least three letters."""
        return _stem(word, self)


@functools.lru_cache(maxsize=16_384)
def _stem(word: str, language: Language) -> str:
    """Return a stem, which is found by the word and language: the hash of all endings takes as long as the stem."""
    return stem_of(word, language.endings)


@functools.cache
def languages() -> tuple[Language, ...]:
    """Return all languages."""
    rows = read_json(__package__, "languages.json")
    return tuple(language_from_row(name, row) for name, row in rows.items())


def language_from_row(name: str, row: dict[str, Any]) -> Language:
    """Return a language by the row of its lists; those that it lacks are empty."""

    def words(field: str) -> frozenset[str]:
        return frozenset(" ".join(row.get(field, ())).split())

    endings = tuple(sorted(words("endings"), key=lambda ending: (-len(ending), ending)))
    ordinals, ordinal_endings = pairs_of(row.get("ordinals", [])), ("", *words("ordinal_endings"))
    sides = [*sorted(words("sequence")), *filter(None, [row.get("sides")])]
    return Language(
        name=name,
        functions=words("functions"),
        typical=frozenset(row.get("typical", "").split()),
        foreign=re.compile(row.get("foreign", _NEVER)),
        denial=re.compile(rf"\b(?:{row['denial']})\b"),
        without=re.compile(rf"\b(?:{row['without']})\b"),
        only=frozenset(row.get("only", "").split()),
        excepted=re.compile(rf"\b(?:{row.get('except', _NEVER)})\b"),
        greeting=re.compile(rf"^\W*(?:{row.get('greetings', _NEVER)})\b[\s,.!:;]*"),
        spoken=frozenset(row.get("spoken", "").split()),
        harmless=re.compile("|".join(row.get("harmless", ())) or _NEVER),
        openers=words("openers"),
        polar=words("polar"),
        ways=words("ways"),
        abilities=words("abilities"),
        times=words("times"),
        required=words("required"),
        prefixes=tuple(prefixes_of(row.get("prefixes", []))),
        opposites=frozenset(
            pair
            for ones, twos in pairs_of(row["opposites"])
            for pair in itertools.product(stems_of(ones.split("|"), endings), stems_of(twos.split("|"), endings))
        ),
        particles=frozenset(pairs_of(row.get("particles", []))),
        until=frozenset(row.get("until", "").split()),
        prepositions=words("prepositions"),
        articles=words("articles"),
        behind_prepositions=frozenset(row.get("behind_prepositions", "").split()),
        contractions=dict(pairs_of(row.get("contractions", []))),
        conjunctions=words("conjunctions"),
        symmetric=words("symmetric"),
        sequence=words("sequence"),
        acts=re.compile(rf"\b(?:{row.get('acts', _NEVER)})\b"),
        acted_on=re.compile(rf"\b(?:{row.get('acted_on', _NEVER)})\b"),
        fronted=re.compile(row.get("fronted", _NEVER)),
        sides=re.compile(rf"\b(?:{'|'.join(sides)})\b" if sides else _NEVER),
        free_order=row.get("free_order", False),
        capitals_are_names=row.get("capitals_are_names", True),
        endings=endings,
        cardinals=with_glued(dict(pairs_of(row.get("cardinals", []))), row.get("glued", "").split()),
        ordinals={word + ending: value for word, value in ordinals for ending in ordinal_endings},
        ones=words("ones"),
        number_compounds=re.compile(rf"\b{row.get('number_compounds', _NEVER)}"),
        number_phrases=tuple(rules_of(row.get("number_phrases", []))),
        clock=tuple((phrase, int(minutes)) for phrase, minutes in rules_of(row.get("clock", []))),
        halves=words("halves"),
        day_parts=words("day_parts"),
        longest_part=row.get("longest_part", 3),
        cases=words("cases"),
    )
