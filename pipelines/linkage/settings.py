"""Settings of record linkage.

options of `qpr clusters` -> Linking -> linker.read_linker
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from schemas.option import Option

EncoderKind = Literal["static", "st", "model"]
"""Kind of encoder: published token embeddings, a model of sentence-transformers, or a model of `qpr train`."""


class Linking(pydantic.BaseModel, frozen=True, extra="forbid", title="Clusters"):
    """Method that splits the questions of an answer into clusters of paraphrases.

    Attributes:
        weights: digest of the calibration whose weights are used; None: the shipped weights.
        weights_json: those weights.
        encoder: digest of the model whose vectors are compared; None: words alone are.
        encoder_kind: kind of that model, which selects the weights.
    """

    method: Annotated[
        Literal["boosted", "logistic", "fellegi-sunter", "none"],
        Option("linkage", default="boosted; none with --coherence paper"),
    ] = pydantic.Field(
        default="boosted",
        description="Method that splits the questions of an answer: boosted, logistic (faster, less precise), "
        "fellegi-sunter (learns from these logs alone) or none (an answer is a cluster).",
    )
    min_probability: Annotated[float | None, Option(default="by --linkage and log, see the report")] = pydantic.Field(
        default=None,
        ge=0.01,
        le=1,
        description="Minimum mean probability that the questions of a cluster are paraphrases, but for intents: "
        "these stay whole (--answers fact splits them).",
    )
    answers: Literal["auto", "intent", "fact"] = pydantic.Field(
        default="auto",
        description="Meaning of two questions with the same answer: intent (they ask the same, unless an answer is "
        "wrong), fact (they may ask different things) or auto (decided for each answer by its text and the "
        "nearest questions).",
    )
    weights: str | None = None
    weights_json: str | None = pydantic.Field(default=None, exclude=True, repr=False)
    encoder: str | None = None
    encoder_kind: EncoderKind | None = None
