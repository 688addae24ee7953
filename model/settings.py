"""What decides how a model is built and trained; written into the model as config.json.

command options -> TrainingSettings, EncoderSettings -> ModelConfig -> config.json
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

import pydantic

from model.vocabulary import HASH_BINS, WORDS

Distance = Literal["squared_euclidean", "euclidean"]

Width = Annotated[int, pydantic.Field(ge=1, le=64)]
"""A question has ten words; every word of a batch has a vector for each place in a window."""

LARGEST_BATCH = 32_768
"""Its square is the number of distances in memory: 4 GB."""


class EncoderSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The shape of the encoder (Bonadiman et al. 2019, sections 2.1.1 and 4.2).

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


class TrainingSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """How the encoder learns (section 4.2).

    Attributes:
        epochs: most passes over the train pairs.
        batch_size: pairs a step, the paper's N.
        learning_rate: Adam's.
        smoothing: the paper's epsilon.
        distance: what the loss and the index compare vectors by.
        patience: epochs without a better validation ROC AUC before training stops.
        vocabulary_size: most words with an embedding of their own.
        hash_bins: embeddings shared by all other words.
        seed: of the first weights, the order of the pairs and the sampled non-pairs.
    """

    epochs: int = pydantic.Field(default=10, ge=1)
    batch_size: int = pydantic.Field(default=512, ge=2, le=LARGEST_BATCH)
    learning_rate: float = pydantic.Field(default=1e-3, gt=0, allow_inf_nan=False)
    smoothing: float = pydantic.Field(default=0.3, ge=0, lt=1)
    distance: Distance = "squared_euclidean"
    patience: int = pydantic.Field(default=2, ge=1)
    vocabulary_size: int = pydantic.Field(default=WORDS, ge=0)
    hash_bins: int = pydantic.Field(default=HASH_BINS, ge=0)
    seed: int = pydantic.Field(default=0, ge=0, lt=2**63)

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

    encoder: Literal["cnn"] = "cnn"
    shape: EncoderSettings
    words: int = pydantic.Field(ge=0)
    hash_bins: int = pydantic.Field(ge=0)
    training: TrainingSettings
    dataset_digest: str
