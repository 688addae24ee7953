"""Settings of the gate: the limits of a night that is published.

options of `qpr nightly` -> GateSettings -> jobs.nightly.gate.decision
"""

from __future__ import annotations

from typing import Annotated, Self

import pydantic

from schemas.option import Option


class GateSettings(pydantic.BaseModel, frozen=True, extra="forbid", title="Gate"):
    """Limits below which a night is refused."""

    max_regression: float = pydantic.Field(
        default=0.02,
        ge=0,
        le=1,
        description="Maximum fall of the MRR on the frozen test set. The 95 % interval of its change, with the "
        "questions of both versions alone, has to stay above that; new questions may not cause a larger fall either.",
    )
    max_kept_fall: Annotated[float, Option(metavar="X")] = pydantic.Field(
        default=0.1,
        ge=0,
        le=1,
        description="Maximum fall of the share of questions in a cluster, of all and of each script. With 20 such "
        "questions or more before, their relative fall may be five times this number.",
    )
    max_drift: Annotated[float, Option(metavar="X")] = pydantic.Field(
        # refused no harmless night, and all of those with a fifth of the rows on one answer (decision 65)
        default=0.1,
        ge=0,
        le=1,
        description="Maximum distance of a new day's answers from those of the 28 days before, beyond the distance of "
        "the most unusual of these days. Of 14 or more the most unusual is left out. It also limits the distance of "
        "the share of new answers from the usual one.",
    )
    canaries: Annotated[str | None, Option(metavar="FILE", default="none")] = pydantic.Field(
        default=None,
        description="Questions that have to be found: columns question, and answer, answer_id or question_id.",
    )
    canary_rank: int = pydantic.Field(default=1, ge=1, le=100, description="Maximum rank of the hit of a canary.")
    require_review: Annotated[str | None, Option(metavar="FILE", default="none")] = pydantic.Field(
        default=None, description="Report of `qpr review --report` (.json) that has to show --min-right."
    )
    min_right: float = pydantic.Field(
        # 105 judged clusters without a wrong one show it
        default=0.97,
        gt=0,
        lt=1,
        description="Share of right clusters that the report has to show at least.",
    )
    review_days: int = pydantic.Field(
        default=30, ge=0, description="Maximum age of the judged version in days; 0: the dataset of the night itself."
    )

    @pydantic.model_validator(mode="after")
    def _check_files(self) -> Self:
        """Refuse limits without the file that they are about."""
        if "canary_rank" in self.model_fields_set and self.canaries is None:
            raise ValueError("--canary-rank belongs to --canaries; give that file too")
        if {"min_right", "review_days"} & self.model_fields_set and self.require_review is None:
            raise ValueError("--min-right and --review-days belong to --require-review; give that file too")
        return self
