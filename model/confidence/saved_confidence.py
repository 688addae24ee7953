"""The file of a confidence model in an index.

Confidence -> to_json -> confidence.json -> read_confidence -> Confidence
"""

from __future__ import annotations

import dataclasses
from collections.abc import Set
from typing import Final, Literal

import numpy as np
import pydantic

from model.confidence.additive_model import AdditiveModel, Curve
from model.confidence.confidence import Confidence
from model.confidence.features import NAMES
from model.reranking.term_statistics import WordCounts
from schemas.artifacts.manifest import first_fault
from schemas.errors import QprError

FILE: Final = "confidence.json"

MOST_WORDS_COUNTED: Final = 50_000
"""Maximum words whose counts are stored: .8 MB. Quora's 536,489 questions have 48,204 that occur in two or more."""

_FLAT: Final = Curve(knots=(0, 1), log_odds=(0, 0))
"""Curve of a feature that a file of an earlier release does not have."""


class SavedConfidence(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The content of the file.

    Attributes:
        version: of the features, so that a model is never applied to other ones. The first had no support.
        tokenizer: version of the words (`schemas.words`).
        questions: number of questions of the index.
        model: curves of all features, in their order.
        words: the most frequent words, and how many questions have each, in ``counts``.
        counts: of the words.
        by_answer: as of `Confidence`; None for clusters, so that files of these have the bytes of earlier releases.
    """

    version: Literal[1, 2] = 2
    tokenizer: Literal[1, 2]
    questions: int = pydantic.Field(ge=1)
    model: AdditiveModel
    words: tuple[str, ...]
    counts: tuple[int, ...]
    by_answer: Literal[True] | None = None

    @pydantic.model_validator(mode="after")
    def _of_its_features(self) -> SavedConfidence:
        names = [name for name in NAMES if self.version > 1 or name != "support"]
        if [*self.model.curves] != names:
            raise ValueError(f"the features are not {', '.join(names)}")
        return self


def to_json(confidence: Confidence) -> bytes:
    """Return the content of the file of a model."""
    counts = confidence.counts.most_frequent(MOST_WORDS_COUNTED)
    saved = SavedConfidence(
        tokenizer=counts.tokenizer,  # type: ignore[arg-type]  # checked
        questions=counts.questions,
        model=confidence.model,
        words=counts.words,
        counts=tuple(counts.counts.tolist()),
        by_answer=True if confidence.by_answer else None,
    )
    return saved.model_dump_json(exclude_none=True).encode() + b"\n"


def read_confidence(content: bytes, *, source: str) -> Confidence:
    """Return the model of a file's content.

    Args:
        content: of the file.
        source: its URL, for errors.

    Raises:
        QprError: it is damaged, or of other features.
    """
    try:
        saved = SavedConfidence.model_validate_json(content)
        counts = np.array(saved.counts, np.int64)
        checked = WordCounts(saved.words, counts, saved.questions, 1.0, saved.tokenizer).checked()
    except (pydantic.ValidationError, OverflowError, QprError) as error:
        fault = first_fault(error) if isinstance(error, pydantic.ValidationError) else str(error)
        raise QprError(f"{source}: {fault}. Build the index again") from error
    curves = {name: saved.model.curves.get(name, _FLAT) for name in NAMES}
    return Confidence(checked, AdditiveModel(bias=saved.model.bias, curves=curves), saved.by_answer is True)


def without_words(confidence: Confidence, words: Set[str]) -> Confidence:
    """Return a model without the counts of some words, which then weigh as those of a single question."""
    counts = confidence.counts
    places = [place for place, word in enumerate(counts.words) if word not in words]
    remaining = tuple(counts.words[place] for place in places)
    counts = dataclasses.replace(counts, words=remaining, counts=counts.counts[places])
    return dataclasses.replace(confidence, counts=counts)
