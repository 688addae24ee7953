"""Settings of a calibration.

options of `qpr calibrate` -> CalibrationConfig -> calibrate.calibrate, or JudgedSample -> verdicts.evidence
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

import pydantic

from pipelines.reading.settings import NamedColumns
from schemas.option import Option


class CalibrationConfig(NamedColumns, frozen=True, extra="forbid"):
    """Labels and method of a calibration."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("question", "answer", "answer_id")

    gold_column: Annotated[str, Option(metavar="COLUMN")] = pydantic.Field(
        default="gold_cluster", description="Column whose equal values mark paraphrases."
    )
    method: Annotated[Literal["boosted", "logistic"], Option("linkage")] = pydantic.Field(
        default="boosted", description="Method whose weights to learn: boosted or logistic (faster, less precise)."
    )


class JudgedSample(pydantic.BaseModel, frozen=True, extra="forbid", title="Verdicts"):
    """Pairs of a dataset that a person has judged."""

    verdicts: Annotated[str | None, Option(metavar="FILE", default="calibrate on LOGS")] = pydantic.Field(
        default=None, description="Judged file of `qpr sample --for-calibration`: .csv, .jsonl, .parquet."
    )
    dataset: Annotated[str | None, Option(metavar="FOLDER", default="none")] = pydantic.Field(
        default=None, description="Dataset that the judged pairs are from."
    )

    @pydantic.model_validator(mode="after")
    def _go_together(self) -> Self:
        if (self.verdicts is None) != (self.dataset is None):
            raise ValueError("--verdicts and --dataset go together: the judged file and the dataset that was sampled")
        return self
