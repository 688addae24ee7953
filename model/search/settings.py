"""Settings of the opening of an index.

options of `qpr search` and `qpr evaluate` -> Opening, ExactOpening, Search -> model.search.opening
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from schemas.option import Option


class Opening(pydantic.BaseModel, frozen=True, extra="forbid"):
    """An index's number of probes, and its reranker."""

    probes: Annotated[int | None, Option(default="the index's")] = pydantic.Field(
        default=None, ge=1, description="Lists searched."
    )
    rerank: Annotated[str | None, Option(metavar="FOLDER")] = pydantic.Field(
        default=None, description="Reranker of the index."
    )


class ExactOpening(Opening, frozen=True, extra="forbid"):
    """The same, for exact search too."""

    exact: bool = pydantic.Field(default=False, description="Search all lists.")


class Search(Opening, frozen=True, extra="forbid"):
    """The same, and the number of hits."""

    k: int = pydantic.Field(default=20, ge=1, description="Maximum hits of a question.")
