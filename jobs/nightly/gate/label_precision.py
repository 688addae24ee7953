"""Label precision of a night, as people judged the clusters of a version.

JSON of `qpr review --report` -> read_review -> Review; Review, dataset of the night -> is_reviewed -> bool
"""

from __future__ import annotations

import datetime
from typing import Final

import pydantic

from schemas.artifacts import storage
from schemas.artifacts.manifest import first_fault, read_manifest
from schemas.errors import QprError
from schemas.versions import history
from schemas.versions.version import Artefact, Version

CONFIDENCE: Final = 0.95
"""Minimum confidence of a bound."""


class _Right(pydantic.BaseModel, frozen=True):
    """The share of right clusters."""

    judged: int = pydantic.Field(ge=0)
    right: int = pydantic.Field(ge=0)
    bound: float = pydantic.Field(ge=0, le=1)


class _Report(pydantic.BaseModel, frozen=True):
    """A report of `qpr review` on any queue."""

    queue: str


class Review(pydantic.BaseModel, frozen=True):
    """The part of a report of `qpr review` on clusters that a gate reads.

    Attributes:
        digest: of the judged dataset.
        confidence: of the bound.
        right: numbers of judged and right clusters, and the share of right ones that they show at least.
    """

    digest: str
    confidence: float = pydantic.Field(gt=0, lt=1)
    right: _Right


def read_review(file: str) -> Review:
    """Return a report of `qpr review --report`.

    Raises:
        QprError: it cannot be read, is no such report, or not one of clusters with the confidence of the gate.
    """
    try:
        content = storage.read_bytes(file)
        queue = _Report.model_validate_json(content).queue
        if queue != "clusters":
            raise QprError(f"--require-review {file}: is about {queue}. Give a report on the clusters of a dataset")
        review = Review.model_validate_json(content)
    except pydantic.ValidationError as error:
        advice = "Give the .json of `qpr review --report`"
        raise QprError(f"--require-review {file}: no report of verdicts ({first_fault(error)}). {advice}") from error
    if review.confidence < CONFIDENCE:
        raise QprError(
            f"--require-review {file}: its bound has confidence {review.confidence:g}. Make the report with "
            f"--confidence {CONFIDENCE:g} or more"
        )
    return review


def is_reviewed(warehouse: str, review: Review, dataset: Artefact, *, date: datetime.date, days: int) -> bool:
    """Return whether a report is about this night's dataset, or that of a version of the last days, refused or not.

    Args:
        warehouse: its URL.
        review: the report.
        dataset: of the night.
        date: of the night.
        days: maximum age of the judged version in days, by the dates of their data; 0: only the night's own dataset.

    Raises:
        QprError: a record is damaged.
    """
    if review.digest == dataset.digest or days == 0:
        return review.digest == dataset.digest

    def is_judged(version: Version) -> bool:
        if (date - version.date).days > days:
            return False
        return review.digest == version.dataset.digest or review.digest == _digest_now(warehouse, version.dataset)

    numbers = reversed(history.numbers(warehouse))
    published = any(is_judged(history.read_version(warehouse, number)) for number in numbers)
    return published or any(map(is_judged, history.refused_versions(warehouse)))


def _digest_now(warehouse: str, recorded: Artefact) -> str | None:
    """Return the digest that erasures have left a recorded dataset with; None if it is gone or another one."""
    try:
        manifest = read_manifest(storage.join(warehouse, recorded.path), "dataset")
    except QprError:
        return None
    return manifest.digest if manifest.is_or_was(recorded.digest) else None
