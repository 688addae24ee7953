"""Interface of every loss: its options are the fields of a frozen pydantic model, which is called with a batch.

options -> Loss -> loss(anchors, positives, clusters) -> scalar

PyTorch is imported on the first call, so that commands can read the options without it.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import pydantic

from model.choices import Distance
from schemas.option import Option

if TYPE_CHECKING:
    from torch import Tensor

DistanceOption = Annotated[Distance, pydantic.Field(description="Distance of two vectors.")]
Symmetric = Annotated[
    bool,
    pydantic.Field(description="Both questions of a pair are anchors, or the first."),
    Option("symmetric/one-sided"),
]
Margin = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False, description="Margin above 0.")]


class Loss(pydantic.BaseModel, abc.ABC, frozen=True, extra="forbid"):
    """A training loss.

    Attributes:
        name: the loss in options and in config.json.
        reference: phrase with the source, for the model card.
        ignores_length: compares the directions of vectors alone, so that their lengths are not learned.

    Shape:
        anchors, positives: (N, D), row i of one paraphrases row i of the other; N >= 2. Half precision is computed in
            float32.
        clusters: (N,) cluster id of each pair, or None where unknown.
        output: scalar.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    ignores_length: ClassVar[bool] = False

    def __call__(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None = None) -> Tensor:
        """Return the loss of a batch.

        Raises:
            ValueError: the two sides are not (N >= 2, D) matrices of one shape.
        """
        from model.distances import at_least_float32
        from model.losses.target_distribution import same_cluster

        if anchors.shape != positives.shape or anchors.ndim != 2 or len(anchors) < 2:
            raise ValueError(f"need two (N >= 2, D) batches, got {tuple(anchors.shape)} and {tuple(positives.shape)}")
        return self.batch_loss(at_least_float32(anchors), at_least_float32(positives), same_cluster(anchors, clusters))

    @abc.abstractmethod
    def batch_loss(self, anchors: Tensor, positives: Tensor, known: Tensor) -> Tensor:
        """Return the loss of a checked batch at single precision or better.

        Args:
            anchors: (N, D).
            positives: (N, D).
            known: (N, N), pairs known to be of one cluster; the diagonal is.
        """

    def options(self) -> dict[str, Any]:
        """Return the options by name."""
        return {name: getattr(self, name) for name in type(self).model_fields}
