"""Configuration of a saved model, its config.json.

settings of encoder and training -> ModelConfig -> config.json
"""

from __future__ import annotations

from typing import Any, Literal, cast, get_args

import pydantic

from model.choices import Distance
from model.encoders.kind import Shape as Shape
from model.encoders.registry import KINDS
from schemas.words import VERSION


class ModelConfig(pydantic.BaseModel, frozen=True, extra="forbid"):
    """All a reader needs beside the vocabulary and the weights.

    Attributes:
        encoder: name of the kind of encoder.
        shape: settings of the encoder.
        words: number of words in vocabulary.txt.
        hash_bins: number of embeddings that follow theirs.
        tokenizer: version of the words (`schemas.words`); a file without it has version 1.
        training: the settings it was trained with, from `model.training.settings.TrainingSettings.stored`.
        dataset_digest: the digest of the dataset it was trained on.
    """

    encoder: str = "cnn"
    shape: pydantic.SerializeAsAny[Shape]
    words: int = pydantic.Field(ge=0)
    hash_bins: int = pydantic.Field(ge=0)
    tokenizer: Literal[1, 2] = VERSION
    training: dict[str, bool | int | float | str | None]
    dataset_digest: str

    @property
    def distance(self) -> Distance:
        """Return the distance that vectors were trained for."""
        return cast(Distance, self.training["distance"])

    @pydantic.field_validator("encoder")
    @classmethod
    def _of_a_kind(cls, encoder: str) -> str:
        if encoder not in KINDS:
            raise ValueError(f"must be one of {', '.join(KINDS)}")
        return encoder

    @pydantic.field_validator("shape", mode="before")
    @classmethod
    def _of_the_encoder(cls, shape: Any, info: pydantic.ValidationInfo) -> Any:
        """Read settings as those of the encoder, which is checked before them."""
        kind = KINDS.get(info.data.get("encoder", ""))
        if kind is None or type(shape) is kind.settings:
            return shape
        return kind.settings.model_validate(shape)

    @pydantic.field_validator("hash_bins")
    @classmethod
    def _a_row_for_every_word(cls, hash_bins: int, info: pydantic.ValidationInfo) -> int:
        kind = KINDS.get(info.data.get("encoder", ""))
        if kind and kind.needs_hash_bins and not hash_bins:
            raise ValueError(f"a {kind.name} encoder needs at least 1")
        return hash_bins

    @pydantic.field_validator("training")
    @classmethod
    def _a_known_distance(cls, training: dict[str, Any]) -> dict[str, Any]:
        if training.get("distance") not in get_args(Distance):
            raise ValueError(f"distance must be one of {', '.join(get_args(Distance))}")
        return training
