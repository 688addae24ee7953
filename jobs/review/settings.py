"""Settings of a spot check.

options of `qpr review` -> ReviewSettings, Files, Page -> jobs.review, jobs.web.review
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from jobs.options.address import Host, Port, TokenFile
from jobs.review.people import person_name
from schemas.option import Option

Kind = Literal["clusters", "pairs", "requests"]
"""Kinds of queues."""


class ReviewSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Queue, person and claim."""

    queue: Kind = pydantic.Field(
        default="clusters",
        description="Items to judge: clusters of a dataset, pairs for `qpr calibrate`, or requests for `qpr certify`.",
    )
    requests: Annotated[str | None, Option(metavar="FILE", default="none")] = pydantic.Field(
        default=None, description="Answers to judge, lines of `qpr answer --json`; with --queue requests."
    )
    seed: int = pydantic.Field(default=0, description="Seed of the random order.")
    reviewer: Annotated[str | None, Option(metavar="NAME", default="the user of this machine")] = pydantic.Field(
        default=None, description="Name of the person who judges."
    )
    claim: float = pydantic.Field(
        default=0.99,
        gt=0,
        lt=1,
        description="Share of right ones to show; given with --report, fail if it is not shown.",
    )
    confidence: float = pydantic.Field(
        default=0.95, gt=0.5, lt=1, description="Confidence of bounds, however often they are looked at."
    )

    @pydantic.field_validator("reviewer")
    @classmethod
    def _named(cls, reviewer: str | None) -> str | None:
        return None if reviewer is None else person_name(reviewer)

    @property
    def error(self) -> float:
        """Return the chance of a false claim."""
        return 1 - self.confidence


class Page(pydantic.BaseModel, frozen=True, extra="forbid", title="Browser"):
    """Address of the review page."""

    serve: bool = pydantic.Field(default=False, description="Judge in a browser: serve the page /review.")
    host: Host = "127.0.0.1"
    port: Port = 8081
    token_file: TokenFile = None


class Files(pydantic.BaseModel, frozen=True, extra="forbid", title="Files"):
    """Files in place of judging."""

    report: Annotated[str | None, Option(metavar="FILE")] = pydantic.Field(
        default=None, description="Write the statistics as FILE.html and FILE.json; FILE ends in one of both."
    )
    export: Annotated[str | None, Option(metavar="FILE")] = pydantic.Field(
        default=None, description="Write verdicts to a .csv or .jsonl file, as calibrate and certify read them."
    )
    merge: Annotated[str | None, Option(metavar="FILE")] = pydantic.Field(
        default=None, description="Add the verdicts of another review database, or of an exported file."
    )
