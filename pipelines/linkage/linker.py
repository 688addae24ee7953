"""Linker of a pipeline: pair model, encoder and threshold.

Linking -> read_linker -> Linker; a Linker on MEMBERS and TokenWeights -> Linked
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Literal

import numpy as np
import pyarrow as pa
import pydantic

from pipelines.linkage.scoring.pair_model import Linked, LinkModel
from pipelines.linkage.scoring.shipped_weights import load_model, model_of
from pipelines.linkage.split_answers import link
from pipelines.questions.token_frequencies import TokenWeights

Encode = Callable[[pa.ChunkedArray], np.ndarray]
"""Texts to their (n, d) float32 vectors."""


class Linking(pydantic.BaseModel, frozen=True, extra="forbid"):
    """How the questions of an answer are split into clusters of paraphrases.

    Attributes:
        method: what gives two questions a probability of being paraphrases: weights learned from labelled pairs, or
            Fellegi and Sunter's model, which learns from the log itself.
        min_probability: mean probability at which two groups are still one; None: what the model says.
        weights: digest of the calibration whose weights are used, or None for those that ship.
        weights_json: those weights.
        encoder: digest of the model whose cosine is a feature, or None.
    """

    method: Literal["boosted", "logistic", "fellegi-sunter"] = "boosted"
    min_probability: float | None = pydantic.Field(default=None, gt=0, le=1)
    weights: str | None = None
    weights_json: str | None = pydantic.Field(default=None, exclude=True, repr=False)
    encoder: str | None = None


@dataclasses.dataclass(frozen=True)
class Linker:
    """Splits the questions of answers into groups of paraphrases.

    Attributes:
        model: what to make of a pair, and where to cut.
        encode: gives texts their vectors, where the model uses their cosine.
    """

    model: LinkModel
    encode: Encode | None = None

    def __call__(self, members: pa.Table, weights: TokenWeights) -> Linked:
        """Return the group of every row of MEMBERS that are ordered by cluster and question, answers whole."""
        if not self.model.cosine:
            return link(members, weights, self.model)
        if self.encode is None:
            raise ValueError("a model with the encoder's cosine needs the encoder")
        return link(members, weights, self.model, vectors=self.encode(members["text"]))


def read_linker(linking: Linking, encode: Encode | None = None) -> Linker:
    """Return the linker of weights that ship or are given.

    Raises:
        QprError: the given weights are for other features than this version computes.
    """
    if linking.method == "fellegi-sunter":
        raise ValueError("Fellegi and Sunter's model has no weights to read; it learns from the log")
    if linking.weights_json is not None:
        model = model_of(json.loads(linking.weights_json), source="the calibration's weights")
    else:
        model = load_model(linking.method, cosine=linking.encoder is not None)
    if linking.min_probability is not None:
        asked = linking.min_probability
        model = dataclasses.replace(model, threshold=asked, least_of_two=asked)  # holds for all groups
    return Linker(model, encode)
