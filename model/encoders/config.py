"""Settings of encoders and their training, stored in the model as config.json.

command options -> TrainingSettings, EncoderSettings -> ModelConfig -> config.json
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import pydantic

from model.choices import Distance, Loss, Mates, Negatives, Precision, SmoothingOver
from model.text.vocabulary import HASH_BINS, WORDS

EncoderName = Literal["cnn", "subword", "static", "transformer"]

Width = Annotated[int, pydantic.Field(ge=1, le=64)]
"""A question has ten words; every word of a batch has a vector for each place in a window."""

Ngram = Annotated[int, pydantic.Field(ge=1, le=16)]
"""Three of a shortest word such as <a> are all it has."""

STATIC_FROM = "wordllama"
"""The package whose token embeddings the static encoder begins with."""

LARGEST_TABLE = 2**28
"""Rows are numbered by 32 bits, words and n-grams together."""

LARGEST_BATCH = 32_768
"""Its square is the number of distances in memory: 4 GB."""


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


class TrainingSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of a training; the defaults are the paper's (Bonadiman et al. 2019, section 4.2)."""

    epochs: int = pydantic.Field(default=10, ge=1, description="Maximum passes over the train pairs.")
    batch_size: int = pydantic.Field(
        default=512, ge=2, le=LARGEST_BATCH, description="Pairs a step; each is a negative of the others."
    )
    precision: Precision = pydantic.Field(
        default="float32",
        description="Precision of encoding; bfloat16 is for graphics cards. Weights and loss stay float32.",
    )
    chunk_size: int = pydantic.Field(
        default=0, ge=0, description="Pairs encoded at a time, for batches beyond memory; 0: all."
    )
    learning_rate: float = pydantic.Field(default=1e-3, gt=0, allow_inf_nan=False, description="Adam's learning rate.")
    linear_decay: bool = pydantic.Field(
        default=False,
        description="Reduce the rate to 0 and keep the last epoch, or keep the epoch with the best ROC AUC.",
    )
    pairs_per_cluster: int = pydantic.Field(
        default=0,
        ge=0,
        description="Maximum pairs of a cluster an epoch, drawn again for each, one a batch; 0: all pairs.",
    )
    unique_clusters: bool = pydantic.Field(
        default=False, description="One pair of a cluster a batch, as --pairs-per-cluster does."
    )
    dropout: float = pydantic.Field(default=0.0, ge=0, lt=1, description="Share of n-grams a step omits.")
    loss: Loss = pydantic.Field(default="sdml", description="Training loss.")
    scale: float = pydantic.Field(default=20.0, gt=0, allow_inf_nan=False, description="Factor of the cosine.")
    smoothing: float = pydantic.Field(
        default=0.3, ge=0, lt=1, description="Share of the target spread over the batch, in [0, 1)."
    )
    smoothing_over: SmoothingOver = pydantic.Field(
        default="batch",
        description="Spread it over the whole batch, as in the paper, or over the others, as in its authors' code.",
    )
    mates: Mates = pydantic.Field(
        default="masked", description="Other questions of the same cluster in a batch: masked, or positives."
    )
    symmetric: bool | None = pydantic.Field(
        default=None, description="Both questions of a pair are anchors, or the first."
    )
    margin: float = pydantic.Field(default=0.5, gt=0, allow_inf_nan=False, description="Margin above 0.")
    negatives: Negatives = pydantic.Field(
        default="random", description="Negative of an anchor: a random one of the batch, or hard: the nearest."
    )
    distance: Distance = pydantic.Field(default="squared_euclidean", description="Distance of two vectors.")
    patience: int = pydantic.Field(
        default=2, ge=1, description="Epochs without a better ROC AUC before --early-stopping."
    )
    vocabulary_size: int = pydantic.Field(default=WORDS, ge=0, description="Maximum words with a row of their own.")
    hash_bins: int = pydantic.Field(default=HASH_BINS, ge=0, description="Rows shared by all other words.")
    seed: int = pydantic.Field(default=0, ge=0, lt=2**63, description="Seed of weights, order and sampled non-pairs.")

    @property
    def deals_clusters(self) -> bool:
        """Tell whether no two pairs of a cluster meet in a batch."""
        return self.unique_clusters or self.pairs_per_cluster > 0

    @pydantic.model_validator(mode="after")
    def _some_token(self) -> Self:
        if self.vocabulary_size + self.hash_bins == 0:
            raise ValueError("vocabulary_size and hash_bins must not both be 0")
        return self


class ModelConfig(pydantic.BaseModel, frozen=True, extra="forbid"):
    """All a reader needs beside the vocabulary and the weights.

    Attributes:
        encoder: which network.
        shape: its dimensions.
        words: how many words vocabulary.txt holds.
        hash_bins: how many embeddings follow theirs.
        training: the settings it was trained with.
        dataset_digest: the digest of the dataset it was trained on.
    """

    encoder: EncoderName = "cnn"
    shape: Shape
    words: int = pydantic.Field(ge=0)
    hash_bins: int = pydantic.Field(ge=0)
    training: TrainingSettings
    dataset_digest: str

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
