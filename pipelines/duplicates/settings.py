"""Settings of the split of labelled pairs.

options of `qpr quora` -> HeldOut -> held_out_split.hold_out
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from pipelines.clusters.settings import DEFAULT_SALT, SplitSalt
from schemas.option import Option


class HeldOut(pydantic.BaseModel, frozen=True, extra="forbid", title="Splits"):
    """Number of pairs that are kept from training."""

    pairs: Annotated[int, Option("held-out-pairs")] = pydantic.Field(
        default=5_000,
        ge=0,
        le=1_000_000_000,
        description="Number of pairs in validation and in test, at most a tenth of all each.",
    )
    salt: SplitSalt = DEFAULT_SALT
