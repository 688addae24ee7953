"""The words that names of things are made of.

data/lexicon.json -> lexicon -> Lexicon
"""

from __future__ import annotations

import functools
import importlib.resources

import pydantic

Words = tuple[str, ...]


class Country(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A country and the answers about it."""

    name: str
    capital: str
    currency: str
    language: str


class Element(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A chemical element."""

    name: str
    symbol: str


class Lexicon(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Word lists, in the order of ``data/lexicon.json``; another order makes other logs.

    Attributes:
        aliases: another name of a country or city, by its name.
        company_syllables: the first, second and third syllables of companies.
        elements: in order of the atomic number, from 1.
    """

    countries: tuple[Country, ...]
    real_cities: Words
    landmarks: Words
    aliases: dict[str, str]
    town_starts: Words
    town_endings: Words
    landmark_kinds: Words
    team_mascots: Words
    first_names: Words
    last_names: Words
    jobs: Words
    company_syllables: tuple[Words, Words, Words]
    company_endings: Words
    medicine_endings: Words
    medicine_uses: Words
    adjectives: Words
    nouns: Words
    awards: Words
    languages: Words
    animals: Words
    diets: Words
    elements: tuple[Element, ...]
    dish_styles: Words
    dish_bases: Words
    dish_forms: Words
    months: Words
    weekdays: Words


@functools.cache
def lexicon() -> Lexicon:
    """Read the word lists that ship with the package."""
    file = importlib.resources.files("pipelines.simulation") / "data" / "lexicon.json"
    return Lexicon.model_validate_json(file.read_bytes())
