"""Settings of a training.

command options -> TrainingSettings -> stored -> config.json
"""

from __future__ import annotations

from typing import Annotated, Any, Self

import pydantic

from model.choices import Precision
from model.losses.interface import Loss
from model.losses.registry import LOSSES
from model.losses.sdml import SDMLLoss
from model.text.vocabulary import HASH_BINS, LARGEST_TABLE, WORDS
from schemas.option import Option

LARGEST_BATCH = 32_768
"""Its square is the number of distances in memory: 4 GB."""

STORED_OPTIONS: dict[str, Any] = {
    "scale": 20.0,
    "smoothing": 0.3,
    "smoothing_over": "batch",
    "mates": "masked",
    "symmetric": None,
    "margin": 0.5,
    "negatives": "random",
    "distance": "squared_euclidean",
}
"""Loss options in config.json, whose bytes are part of a model's digest: those the loss lacks stand at these values."""


class TrainingSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of a training; the defaults are the paper's (Bonadiman et al. 2019, section 4.2)."""

    epochs: Annotated[int, Option(panel="Options")] = pydantic.Field(
        default=10, ge=1, description="Maximum passes over the train pairs."
    )
    batch_size: Annotated[int, Option(panel="Options")] = pydantic.Field(
        default=512, ge=2, le=LARGEST_BATCH, description="Pairs a step; each is a negative of the others."
    )
    precision: Precision = pydantic.Field(
        default="float32",
        description="Precision of encoding; bfloat16 is faster on some machines.",
    )
    chunk_size: int = pydantic.Field(
        default=0, ge=0, description="Pairs encoded at a time, for batches beyond memory; 0: all."
    )
    learning_rate: Annotated[float, Option(panel="Options")] = pydantic.Field(
        default=1e-3, gt=0, allow_inf_nan=False, description="Adam's learning rate."
    )
    linear_decay: Annotated[bool, Option("linear-decay/early-stopping")] = pydantic.Field(
        default=False,
        description="Reduce the rate to 0 and keep the last epoch, or keep the epoch with the best ROC AUC.",
    )
    pairs_per_cluster: int = pydantic.Field(
        default=0,
        ge=0,
        description="Maximum pairs of a cluster an epoch, one a batch; 0: all.",
    )
    unique_clusters: bool = pydantic.Field(
        default=False, description="At most one pair of each cluster in a batch; --pairs-per-cluster implies it."
    )
    dropout: Annotated[float, Option(panel="Encoder")] = pydantic.Field(
        default=0.0, ge=0, lt=1, description="Share of n-grams a step omits."
    )
    loss: Loss = pydantic.Field(default=SDMLLoss(), description="Training loss.")
    patience: int = pydantic.Field(
        default=2, ge=1, description="Epochs without a better ROC AUC before --early-stopping."
    )
    vocabulary_size: Annotated[int, Option(panel="Encoder")] = pydantic.Field(
        default=WORDS, ge=0, description="Maximum words with a row of their own."
    )
    hash_bins: Annotated[int, Option(panel="Encoder")] = pydantic.Field(
        default=HASH_BINS, ge=0, le=LARGEST_TABLE, description="Rows shared by all other words."
    )
    seed: int = pydantic.Field(default=0, ge=0, lt=2**63, description="Seed of weights, order and sampled non-pairs.")

    @property
    def deals_clusters(self) -> bool:
        """Return True if no batch holds two pairs of a cluster."""
        return self.unique_clusters or self.pairs_per_cluster > 0

    @pydantic.field_validator("loss", mode="before")
    @classmethod
    def _read_loss(cls, loss: Any) -> Any:
        """Return the loss of ``{"name": …, option: value, …}`` or of a name."""
        if isinstance(loss, Loss):
            return loss
        options = {"name": loss} if isinstance(loss, str) else dict(loss)
        if (name := options.pop("name", None)) not in LOSSES:
            raise ValueError(f"must be one of {', '.join(LOSSES)}")
        return LOSSES[name].model_validate(options)

    @pydantic.model_validator(mode="after")
    def _some_token(self) -> Self:
        if self.vocabulary_size + self.hash_bins == 0:
            raise ValueError("--vocabulary-size and --hash-bins must not both be 0")
        return self

    @pydantic.field_serializer("loss")
    def _write_loss(self, loss: Loss) -> dict[str, Any]:
        return {"name": loss.name, **loss.options()}

    def flat(self) -> dict[str, Any]:
        """Return every setting by the name of its option, those of the loss after the name of the loss."""
        return self._with(self.loss.options())

    def stored(self) -> dict[str, Any]:
        """Return every setting as config.json holds it."""
        options = self.loss.options()
        if "symmetric" not in self.loss.model_fields_set:
            options.pop("symmetric", None)
        return self._with(STORED_OPTIONS | options)

    def _with(self, options: dict[str, Any]) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        for name, value in self:
            flat |= {"loss": self.loss.name, **options} if name == "loss" else {name: value}
        return flat
