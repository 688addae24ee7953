"""Settings of encoders, stored in the model as config.json.

command options -> EncoderSettings -> ModelConfig -> config.json
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast, get_args

import pydantic

from model.choices import Distance

EncoderName = Literal["cnn", "subword", "static", "transformer"]

Width = Annotated[int, pydantic.Field(ge=1, le=64)]
"""A question has ten words; every word of a batch has a vector for each place in a window."""

Ngram = Annotated[int, pydantic.Field(ge=1, le=16)]
"""Three of a shortest word such as <a> are all it has."""

STATIC_FROM = "wordllama"
"""The package whose token embeddings the static encoder begins with."""

LARGEST_TABLE = 2**28
"""Rows are numbered by 32 bits, words and n-grams together."""


class EncoderSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of the convolutional encoder (Bonadiman et al. 2019, sections 2.1.1 and 4.2)."""

    embedding_dimension: int = pydantic.Field(default=300, ge=1, description="Length of a word's vector.")
    windows: tuple[Width, ...] = pydantic.Field(default=(5,), min_length=1, description="Window widths in words.")
    channels: int = pydantic.Field(default=300, ge=1, description="Channels of each window width.")
    dimension: int = pydantic.Field(default=300, ge=1, description="Length of a question's vector.")


class SubwordSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of the subword encoder, a normalised bag of words and their parts (after Bojanowski et al. 2017)."""

    dimension: int = pydantic.Field(default=256, ge=1, description="Length of a question's vector.")
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


class StaticSettings(SubwordSettings, frozen=True, extra="forbid"):
    """Settings of the static encoder: the subword encoder's, and a row for each pretrained token.

    The rows of a word's tokens count as its n-grams do, times the inverse of that weight when training begins.
    """

    static_from: str = pydantic.Field(
        default=STATIC_FROM, description="Package or folder of the pretrained token embeddings."
    )
    static_version: str = pydantic.Field(default="", description="Version of that package.")
    static_licence: str = pydantic.Field(default="not stated", description="Licence that the package states.")
    static_digest: str = pydantic.Field(default="", description="SHA-256 of tokenizer and embeddings as published.")
    tokens: int = pydantic.Field(ge=1, le=LARGEST_TABLE, description="Number of pretrained tokens.")


class TransformerSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of a transformer: the sentence-transformers model that training begins with."""

    transformer_from: str = pydantic.Field(description="Folder of the sentence-transformers model to start from.")
    transformer_digest: str = pydantic.Field(default="", description="SHA-256 of all its files.")
    transformer_licence: str = pydantic.Field(default="not stated", description="Licence that its README states.")
    dimension: int = pydantic.Field(ge=1, description="Length of a question's vector.")


Shape = EncoderSettings | StaticSettings | SubwordSettings | TransformerSettings

_NAMED: tuple[tuple[EncoderName, type[Shape]], ...] = (
    ("cnn", EncoderSettings),
    ("subword", SubwordSettings),
    ("static", StaticSettings),
    ("transformer", TransformerSettings),
)

SHAPES: dict[str, type[Shape]] = dict(_NAMED)
"""The shape of each encoder."""


NOT_OF: dict[str, frozenset[str]] = {
    "cnn": frozenset({"dropout"}),
    "subword": frozenset(),
    "static": frozenset(),
    "transformer": frozenset({"dropout", "vocabulary_size", "hash_bins"}),
}
"""Settings of the training that an encoder has no use for."""


def encoder_name(shape: Shape) -> EncoderName:
    """Return the name of the encoder that has this shape."""
    return next(name for name, kind in _NAMED if type(shape) is kind)


class ModelConfig(pydantic.BaseModel, frozen=True, extra="forbid"):
    """All a reader needs beside the vocabulary and the weights.

    Attributes:
        encoder: which network.
        shape: its dimensions.
        words: how many words vocabulary.txt holds.
        hash_bins: how many embeddings follow theirs.
        training: the settings it was trained with, from `model.training.settings.TrainingSettings.stored`.
        dataset_digest: the digest of the dataset it was trained on.
    """

    encoder: EncoderName = "cnn"
    shape: Shape
    words: int = pydantic.Field(ge=0)
    hash_bins: int = pydantic.Field(ge=0)
    training: dict[str, bool | int | float | str | None]
    dataset_digest: str

    @property
    def distance(self) -> Distance:
        """Return the distance that vectors were trained for."""
        return cast(Distance, self.training["distance"])

    @pydantic.field_validator("training")
    @classmethod
    def _a_known_distance(cls, training: dict[str, Any]) -> dict[str, Any]:
        if training.get("distance") not in get_args(Distance):
            raise ValueError(f"distance must be one of {', '.join(get_args(Distance))}")
        return training

    @pydantic.field_validator("shape", mode="before")
    @classmethod
    def _of_the_encoder(cls, shape: Any, info: pydantic.ValidationInfo) -> Any:
        """Read a shape as that of the encoder, which is checked before it."""
        wanted = SHAPES.get(info.data.get("encoder", ""))
        if wanted is None or type(shape) is wanted:
            return shape
        return wanted.model_validate(shape)

    @pydantic.field_validator("hash_bins")
    @classmethod
    def _a_row_for_every_word(cls, hash_bins: int, info: pydantic.ValidationInfo) -> int:
        if not hash_bins and info.data.get("encoder") in ("subword", "static"):
            raise ValueError(f"a {info.data['encoder']} encoder needs at least 1")
        return hash_bins
