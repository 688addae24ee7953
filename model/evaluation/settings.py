"""Settings of an evaluation.

options of `qpr evaluate` -> Evaluation -> queries, ranks
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from schemas.option import Option


class Evaluation(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Queries of an evaluation and the number of their hits."""

    split: Literal["validation", "test"] = pydantic.Field(default="test", description="Split with the queries.")
    depth: int = pydantic.Field(
        default=100, ge=10, le=10_000, description="Hits per query; a paraphrase below is not found."
    )
    limit: Annotated[int | None, Option(default="all")] = pydantic.Field(
        default=None, ge=1, description="Maximum queries, a fixed sample."
    )
