"""Settings of the subword encoder, and of the static one, which adds pretrained tokens.

options -> SubwordSettings, StaticSettings -> config.json
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from model.encoders.kind import MAX_WIDTH, Shape
from model.text.vocabulary import LARGEST_TABLE
from schemas.option import Option

Ngram = Annotated[int, pydantic.Field(ge=1, le=16)]
"""Three of a shortest word such as <a> are all it has."""

STATIC_FROM = "wordllama"
"""The package whose token embeddings the static encoder begins with."""


class SubwordSettings(Shape, frozen=True):
    """Settings of the subword encoder, a normalised bag of words and their parts (after Bojanowski et al. 2017)."""

    dimension: int = pydantic.Field(default=256, ge=1, le=MAX_WIDTH, description="Length of a question's vector.")
    ngrams: tuple[Ngram, ...] = pydantic.Field(
        default=(3, 4), min_length=1, description="Lengths of character n-grams of a word with its two end marks."
    )
    ngram_bins: int = pydantic.Field(default=131_072, ge=1, le=LARGEST_TABLE, description="Rows shared by all n-grams.")
    ngram_weight: float = pydantic.Field(
        default=0.5, gt=0, le=1_000, allow_inf_nan=False, description="Weight of an n-gram; a word has 1."
    )
    bigram_bins: int = pydantic.Field(
        default=0, ge=0, le=LARGEST_TABLE, description="Rows shared by pairs of neighbouring words; 0: none."
    )


class StaticSettings(SubwordSettings, frozen=True):
    """Settings of the static encoder: the subword encoder's, and a row for each pretrained token.

    The rows of a word's tokens count as its n-grams do, times the inverse of that weight when training begins.
    """

    static_from: Annotated[str, Option(metavar="FOLDER")] = pydantic.Field(
        default=STATIC_FROM, description="Package or folder of the pretrained token embeddings."
    )
    static_version: str = pydantic.Field(default="", description="Version of that package.")
    static_licence: str = pydantic.Field(default="not stated", description="Licence that the package states.")
    static_digest: str = pydantic.Field(default="", description="SHA-256 of tokenizer and embeddings as published.")
    tokens: int = pydantic.Field(ge=1, le=LARGEST_TABLE, description="Number of pretrained tokens.")
