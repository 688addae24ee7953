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
    """The shape of the convolutional encoder (Bonadiman et al. 2019, sections 2.1.1 and 4.2).

    Attributes:
        embedding_dimension: numbers a token.
        windows: widths of the convolution, in tokens; each has ``channels`` channels of its own.
        channels: channels a window.
        dimension: numbers a question.
    """

    embedding_dimension: int = pydantic.Field(default=300, ge=1)
    windows: tuple[Width, ...] = pydantic.Field(default=(5,), min_length=1)
    channels: int = pydantic.Field(default=300, ge=1)
    dimension: int = pydantic.Field(default=300, ge=1)


class SubwordSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The shape of the subword encoder, a normalised bag of words and their parts (after Bojanowski et al. 2017).

    Attributes:
        dimension: numbers a row, and a question.
        ngrams: lengths of the character n-grams of a word, its two end marks included.
        ngram_bins: rows that all n-grams share by their hash.
        ngram_weight: what an n-gram counts where a word counts 1.
        bigram_bins: rows that all pairs of neighbouring words share by their hash; at 0 pairs do not count.
    """

    dimension: int = pydantic.Field(default=256, ge=1)
    ngrams: tuple[Ngram, ...] = pydantic.Field(default=(3, 4), min_length=1)
    ngram_bins: int = pydantic.Field(default=131_072, ge=1, le=LARGEST_TABLE)
    ngram_weight: float = pydantic.Field(default=0.5, gt=0, le=1_000, allow_inf_nan=False)
    bigram_bins: int = pydantic.Field(default=0, ge=0, le=LARGEST_TABLE)


class StaticSettings(SubwordSettings, frozen=True, extra="forbid"):
    """The shape of the static encoder: the subword encoder's, and a row for every token that somebody else embedded.

    The rows of a word's tokens count as its n-grams do, times the inverse of that weight when training begins.

    Attributes:
        static_from: the package or folder the tokens came from.
        static_version: the package's.
        static_licence: as the package states it.
        static_digest: of the tokenizer and the rows as they were published.
        tokens: how many there are.
    """

    static_from: str = STATIC_FROM
    static_version: str = ""
    static_licence: str = "not stated"
    static_digest: str = ""
    tokens: int = pydantic.Field(ge=1, le=LARGEST_TABLE)


class TransformerSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The shape of a transformer: what a model of sentence-transformers has that training begins with.

    Attributes:
        transformer_from: its folder.
        transformer_digest: of all its files.
        transformer_licence: as its README states it.
        dimension: numbers a question.
    """

    transformer_from: str
    transformer_digest: str = ""
    transformer_licence: str = "not stated"
    dimension: int = pydantic.Field(ge=1)


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
    """How the encoder learns; without anything said as in the paper (section 4.2).

    Attributes:
        epochs: most passes over the train pairs.
        batch_size: pairs a step, the paper's N.
        precision: what questions are encoded at; bfloat16 where PyTorch thinks it safe. Weights and loss stay float32.
        chunk_size: pairs encoded at a time, for batches that do not fit in memory; 0: all of a batch.
        learning_rate: Adam's.
        linear_decay: let the learning rate fall to 0 over all epochs; then all of them run and the last one is kept.
        pairs_per_cluster: draw at most so many pairs of each cluster afresh for every epoch, no two of a cluster in a
            batch; at 0 every pair of the table comes once an epoch.
        unique_clusters: put no two pairs of a cluster in a batch when every pair of the table comes too.
        dropout: share of a question's features that a step leaves out; the subword encoder's.
        loss: which; `LOSS_OPTIONS` has the settings that each one uses.
        scale: what multiple_negatives multiplies the cosine by.
        smoothing: the paper's epsilon.
        smoothing_over: whether that goes to all of a batch, as in the paper, or to all but the paraphrases, as in the
            authors' code.
        mates: whether a batch's questions of the anchor's own cluster are masked or further positives.
        symmetric: whether both sides of the pairs are anchors; None: as the loss has it, for multiple_negatives yes.
        margin: of triplet and online_contrastive.
        negatives: of triplet: any of the batch, or the nearest.
        distance: what sdml and triplet compare vectors by.
        patience: epochs without a better validation ROC AUC before training stops.
        vocabulary_size: most words with an embedding of their own.
        hash_bins: embeddings shared by all other words.
        seed: of the first weights, the order of the pairs and the sampled non-pairs.
    """

    epochs: int = pydantic.Field(default=10, ge=1)
    batch_size: int = pydantic.Field(default=512, ge=2, le=LARGEST_BATCH)
    precision: Precision = "float32"
    chunk_size: int = pydantic.Field(default=0, ge=0)
    learning_rate: float = pydantic.Field(default=1e-3, gt=0, allow_inf_nan=False)
    linear_decay: bool = False
    pairs_per_cluster: int = pydantic.Field(default=0, ge=0)
    unique_clusters: bool = False
    dropout: float = pydantic.Field(default=0.0, ge=0, lt=1)
    loss: Loss = "sdml"
    scale: float = pydantic.Field(default=20.0, gt=0, allow_inf_nan=False)
    smoothing: float = pydantic.Field(default=0.3, ge=0, lt=1)
    smoothing_over: SmoothingOver = "batch"
    mates: Mates = "masked"
    symmetric: bool | None = None
    margin: float = pydantic.Field(default=0.5, gt=0, allow_inf_nan=False)
    negatives: Negatives = "random"
    distance: Distance = "squared_euclidean"
    patience: int = pydantic.Field(default=2, ge=1)
    vocabulary_size: int = pydantic.Field(default=WORDS, ge=0)
    hash_bins: int = pydantic.Field(default=HASH_BINS, ge=0)
    seed: int = pydantic.Field(default=0, ge=0, lt=2**63)

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
