"""Settings of a calibration.

options of `qpr calibrate` -> CalibrationConfig -> calibrate.calibrate
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import pydantic

from pipelines.reading.settings import NamedColumns
from schemas.option import Option


class CalibrationConfig(NamedColumns, frozen=True, extra="forbid"):
    """Labels and method of a calibration."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("question", "answer", "answer_id")

    gold_column: Annotated[str, Option(metavar="COLUMN")] = pydantic.Field(
        default="gold_cluster", description="Column whose equal values mark paraphrases."
    )
    method: Annotated[Literal["boosted", "logistic"], Option("linkage", metavar="NAME")] = pydantic.Field(
        default="boosted", description="Method whose weights to learn: boosted or logistic (faster, less precise)."
    )
