"""Settings of the gate: the limits of a night that is published.

options of `qpr nightly` -> GateSettings -> jobs.nightly.gate.decision
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from schemas.option import Option


class GateSettings(pydantic.BaseModel, frozen=True, extra="forbid", title="Gate"):
    """Limits below which a night is refused."""

    max_regression: float = pydantic.Field(
        default=0.02,
        ge=0,
        le=1,
        description="Maximum fall of the MRR on the frozen test set; the 95 % interval must not reach below it.",
    )
    max_kept_fall: Annotated[float, Option(metavar="X")] = pydantic.Field(
        default=0.1,
        ge=0,
        le=1,
        description="Maximum fall of the share of questions in a cluster, in all and of each script.",
    )
