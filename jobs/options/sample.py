"""Settings of a sample of clusters.

options of `qpr sample` -> Sample -> sampled clusters
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from schemas.option import Option


class Sample(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Size, selection and form of a sample."""

    clusters: int = pydantic.Field(default=200, ge=1, description="Clusters to show.")
    seed: int = pydantic.Field(default=0, description="Seed of the sample.")
    split: Annotated[Literal["train", "validation", "test"] | None, Option(metavar="NAME", default="all")] = (
        pydantic.Field(default=None, description="Only train, validation or test.")
    )
    questions: int = pydantic.Field(
        default=10, ge=1, description="Maximum questions of a cluster in a table or Markdown."
    )
    format: Annotated[Literal["table", "markdown", "csv", "parquet"], Option(metavar="NAME")] = pydantic.Field(
        default="table", description="table, markdown, csv or parquet."
    )
