"""Settings of a sample of clusters.

options of `qpr sample` -> Sample -> sampled clusters or pairs
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

import pydantic

from schemas.option import Option


class Sample(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Size, selection and form of a sample."""

    for_calibration: Annotated[int | None, Option(metavar="N", default="off")] = pydantic.Field(
        default=None,
        ge=1,
        le=2304,
        description="Draw this many pairs to judge for `qpr calibrate --verdicts`, as CSV or JSON Lines.",
    )
    verdicts: Annotated[str | None, Option(metavar="FILE", default="none")] = pydantic.Field(
        default=None, description="Judged file of a smaller sample with the same seed; its verdicts are filled in."
    )
    clusters: int = pydantic.Field(default=200, ge=1, description="Clusters to show.")
    seed: int = pydantic.Field(default=0, description="Seed of the sample.")
    split: Annotated[Literal["train", "validation", "test"] | None, Option(default="all")] = pydantic.Field(
        default=None, description="Split of the clusters."
    )
    questions: int = pydantic.Field(
        default=10, ge=1, description="Maximum questions of a cluster in a table or Markdown."
    )
    format: Annotated[
        Literal["table", "markdown", "csv", "parquet"], Option(default="by the end of --output; else table")
    ] = pydantic.Field(default="table", description="Format of the sample.")

    @pydantic.model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        of_clusters = sorted(self.model_fields_set & {"clusters", "split", "questions", "format"})
        if self.for_calibration is not None and of_clusters:
            raise ValueError(
                f"--{of_clusters[0]} is for a sample of clusters; --for-calibration draws pairs. Leave one out"
            )
        if self.for_calibration is None and self.verdicts is not None:
            raise ValueError("--verdicts needs --for-calibration: the number of pairs of the larger sample")
        return self
