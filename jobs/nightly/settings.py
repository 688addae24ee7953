"""Settings of a night: its window, the rule of training and the test set of the gate.

options of `qpr nightly` -> NightSettings -> jobs.nightly.flow
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from schemas.option import Option


class NightSettings(pydantic.BaseModel, frozen=True, extra="forbid", title="Night"):
    """Settings of a night that are none of a step."""

    window: Annotated[str, Option(metavar="DAYS")] = pydantic.Field(
        default="365d", pattern=r"^[1-9]\d{0,4}d$", description="Days that a dataset spans, such as 365d."
    )
    retrain: Annotated[str, Option(metavar="RULE")] = pydantic.Field(
        default="weekly",
        pattern=r"^(always|weekly|never|changed:(0?\.\d+|0|1))$",
        description="Nights that train an encoder: always, weekly, never, or changed:0.2 if more than this share of "
        "the clusters changed since the last training. The first night always trains.",
    )
    new_test_set: bool = pydantic.Field(
        default=False, description="Take this night's test split as the frozen test set of later nights."
    )

    @property
    def window_days(self) -> int:
        """Return the number of days of the window."""
        return int(self.window.removesuffix("d"))
