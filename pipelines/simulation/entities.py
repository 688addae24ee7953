"""Names in questions and answers: every name once, in one Arrow array.

lexicon -> names -> Names (a string pool, the place of each kind in it, aliases)
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from pipelines.simulation.lexicon import lexicon


@dataclasses.dataclass(frozen=True)
class Names:
    """All names of all kinds.

    Attributes:
        pool: (P,) strings; entry 0 is the empty string, which fills unused places of a template.
        start: first pool index of each kind.
        count: number of names of each kind; the names of subjects are distinct.
        alias: (P,) the pool index of another name for the same thing, or the entry's own index.
    """

    pool: pa.Array
    start: Mapping[str, int]
    count: Mapping[str, int]
    alias: np.ndarray


@functools.cache
def names() -> Names:
    """Return the names, equal in every process."""
    kinds = {kind: list(dict.fromkeys(listed)) for kind, listed in _things().items()}
    kinds |= {kind: list(listed) for kind, listed in _values().items()}
    pool, start = [""], {}
    for kind, listed in kinds.items():
        start[kind] = len(pool)
        pool += listed
    alias = np.arange(len(pool))
    for index, other in _aliases(kinds, start):
        alias[index] = len(pool)
        pool.append(other)
    alias = np.concatenate([alias, np.arange(len(alias), len(pool))])
    return Names(pa.array(pool, pa.string()), start, {kind: len(listed) for kind, listed in kinds.items()}, alias)


def _things() -> dict[str, Iterable[str]]:
    """Return names of the subjects of questions, by kind."""
    words = lexicon()
    towns = (start + ending for ending in words.town_endings for start in words.town_starts)
    stems = ["".join(parts) for parts in itertools.product(*words.company_syllables)]
    drugs = ("".join(parts).lower() for parts in itertools.product(*words.company_syllables[:2]))
    return {
        "country": [country.name for country in words.countries],
        "city": [*words.real_cities, *towns],
        "person": _pairs(words.last_names, words.first_names, "{1} {0}"),
        "company": [f"{s} {words.company_endings[i % len(words.company_endings)]}" for i, s in enumerate(stems)],
        "medicine": [f"{d}{ending}" for d in drugs for ending in words.medicine_endings],
        "film": _pairs(words.adjectives, words.nouns, "The {0} {1}"),
        "book": _pairs(words.nouns, words.nouns, "{0} of the {1}"),
        "song": _pairs(words.nouns, words.adjectives, "My {1} {0} Blues"),
        "animal": words.animals,
        "element": [element.name for element in words.elements],
        "dish": [" ".join(parts) for parts in itertools.product(words.dish_styles, words.dish_bases, words.dish_forms)],
        "team": [f"{city} {words.team_mascots[i % len(words.team_mascots)]}" for i, city in enumerate(_team_towns())],
        "landmark": [*words.landmarks, *_pairs(_team_towns(), words.landmark_kinds, "the {0} {1}")],
        "word": [noun.lower() for noun in (*words.nouns, *words.animals)],
        "language": words.languages,
        "award": words.awards,
        "weekday": words.weekdays,
        "day": [f"{month} {day}" for month in words.months for day in range(1, 29)],  # days of every month
        "year": map(str, range(1900, 2025)),
        "number": map(str, range(2, 200)),
    }


def _values() -> dict[str, Iterable[str]]:
    """Return values that only answers mention, by kind; capital to symbol are parallel to the kind they describe."""
    words = lexicon()
    return {
        "capital": [country.capital for country in words.countries],
        "currency": [country.currency for country in words.countries],
        "spoken": [country.language for country in words.countries],
        "symbol": [element.symbol for element in words.elements],
        "amount": (f"{n:,}" for n in range(1_000, 9_000_000, 8_731)),
        "date": _pairs([str(year) for year in range(1900, 2024)], words.months, "{1} 12, {0}"),
        "use": words.medicine_uses,
        "job": words.jobs,
        "taste": words.diets,
    }


def _aliases(kinds: Mapping[str, list[str]], start: Mapping[str, int]) -> Iterable[tuple[int, str]]:
    other_names = lexicon().aliases
    for kind in ("country", "city"):
        yield from ((start[kind] + i, other_names[n]) for i, n in enumerate(kinds[kind]) if n in other_names)
    yield from ((start["film"] + i, name.removeprefix("The ")) for i, name in enumerate(kinds["film"]))
    yield from ((start["company"] + i, name.split(" ")[0]) for i, name in enumerate(kinds["company"]))
    for i, name in enumerate(kinds["day"]):
        month, day = name.split(" ")
        yield start["day"] + i, f"{month} the {day}{ordinal_ending(int(day))}"


def ordinal_ending(number: int) -> str:
    """Return the ending that turns 1 into 1st, 12 into 12th and 23 into 23rd."""
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _pairs(slow: Iterable[str], fast: Iterable[str], template: str) -> list[str]:
    return [template.format(first, second) for first, second in itertools.product(slow, fast)]


def _team_towns() -> list[str]:
    return [start + ending for ending in ("by", "thorpe", "ness", "moor") for start in lexicon().town_starts]
