"""The things questions are about, and what answers are made of: every name once, in one Arrow array.

lexicon -> names -> Names (a string pool, where each kind lies in it, and aliases)
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from pipelines.simulation import lexicon


@dataclasses.dataclass(frozen=True)
class Names:
    """All names of all kinds.

    Attributes:
        pool: (P,) strings; entry 0 is the empty string, which fills unused places of a template.
        start: where in the pool a kind begins.
        count: how many names a kind has; those of a kind of thing are distinct.
        alias: (P,) the pool index of another name for the same thing, or the entry's own index.
    """

    pool: pa.Array
    start: Mapping[str, int]
    count: Mapping[str, int]
    alias: np.ndarray


@functools.cache
def names() -> Names:
    """Build the names; the same in every process."""
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
    """Return what questions are about, by kind."""
    towns = (start + ending for ending in lexicon.TOWN_ENDINGS for start in lexicon.TOWN_STARTS)
    stems = ["".join(parts) for parts in itertools.product(*lexicon.COMPANY_SYLLABLES)]
    drugs = ("".join(parts).lower() for parts in itertools.product(*lexicon.COMPANY_SYLLABLES[:2]))
    return {
        "country": _column(0),
        "city": [*lexicon.REAL_CITIES, *towns],
        "person": _pairs(lexicon.LAST_NAMES, lexicon.FIRST_NAMES, "{1} {0}"),
        "company": [f"{s} {lexicon.COMPANY_ENDINGS[i % len(lexicon.COMPANY_ENDINGS)]}" for i, s in enumerate(stems)],
        "medicine": [f"{d}{ending}" for d in drugs for ending in lexicon.MEDICINE_ENDINGS],
        "film": _pairs(lexicon.ADJECTIVES, lexicon.NOUNS, "The {0} {1}"),
        "book": _pairs(lexicon.NOUNS, lexicon.NOUNS, "{0} of the {1}"),
        "song": _pairs(lexicon.NOUNS, lexicon.ADJECTIVES, "My {1} {0} Blues"),
        "animal": lexicon.ANIMALS,
        "element": [pair.split(" ")[0] for pair in lexicon.ELEMENTS],
        "dish": [" ".join(parts) for parts in itertools.product(*_dish_words())],
        "team": [f"{city} {lexicon.MASCOTS[i % len(lexicon.MASCOTS)]}" for i, city in enumerate(_team_towns())],
        "landmark": [*lexicon.LANDMARKS, *_pairs(_team_towns(), lexicon.LANDMARK_KINDS, "the {0} {1}")],
        "word": [noun.lower() for noun in (*lexicon.NOUNS, *lexicon.ANIMALS)],
        "language": lexicon.LANGUAGES,
        "award": lexicon.AWARDS,
        "weekday": lexicon.WEEKDAYS,
        "day": [f"{month} {day}" for month in lexicon.MONTHS for day in range(1, 29)],
        "year": map(str, range(1900, 2025)),
        "number": map(str, range(2, 200)),
    }


def _values() -> dict[str, Iterable[str]]:
    """Return what only answers mention, by kind; capital to symbol run parallel to the kind they describe."""
    return {
        "capital": _column(1),
        "currency": _column(2),
        "spoken": _column(3),
        "symbol": [pair.split(" ")[1] for pair in lexicon.ELEMENTS],
        "amount": (f"{n:,}" for n in range(1_000, 9_000_000, 8_731)),
        "date": _pairs([str(year) for year in range(1900, 2024)], lexicon.MONTHS, "{1} 12, {0}"),
        "use": lexicon.MEDICINE_USES,
        "job": lexicon.JOBS,
        "taste": lexicon.DIETS,
    }


def _aliases(kinds: Mapping[str, list[str]], start: Mapping[str, int]) -> Iterable[tuple[int, str]]:
    for kind in ("country", "city"):
        yield from ((start[kind] + i, lexicon.ALIASES[n]) for i, n in enumerate(kinds[kind]) if n in lexicon.ALIASES)
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


def _column(index: int) -> list[str]:
    return [line.split("|")[index] for line in lexicon.COUNTRIES]


def _dish_words() -> tuple[list[str], list[str], list[str]]:
    return lexicon.DISH_STYLES, lexicon.DISH_BASES, lexicon.DISH_FORMS


def _team_towns() -> list[str]:
    return [start + ending for ending in ("by", "thorpe", "ness", "moor") for start in lexicon.TOWN_STARTS]
