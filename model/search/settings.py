"""Settings of a search: the way of searching, and the opening of the index.

options of `qpr search` and `qpr evaluate` -> Opening, ExactOpening, Search -> model.search.searcher
"""

from __future__ import annotations

from typing import Annotated, Self

import pydantic

from model.choices import Mode
from schemas.option import PROBES, Option


class Opening(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The way of searching, an index's number of probes, its reranker, and the checks of its files."""

    mode: Annotated[Mode | None, Option(default="the index's; rerank with --rerank")] = pydantic.Field(
        default=None,
        description="Hits after the same question: none (exact), by vectors (dense), by words (bm25), by both "
        "(fusion), by both with a hit of the most supported cluster first (probability), or by a reranker (rerank).",
    )
    probes: Annotated[int | None, Option(default="the index's")] = pydantic.Field(
        default=None, ge=1, description=PROBES
    )
    rerank: Annotated[str | None, Option(metavar="FOLDER")] = pydantic.Field(
        default=None, description="Reranker of the index, for mode rerank."
    )
    verify: bool = pydantic.Field(default=False, description="Check all files, also those that were checked before.")


class ExactOpening(Opening, frozen=True, extra="forbid"):
    """The same, for exact search too."""

    exact: bool = pydantic.Field(default=False, description="Compare all vectors.")

    @pydantic.model_validator(mode="after")
    def _check_probes(self) -> Self:
        """Refuse a number of probes of a search that compares all vectors."""
        if self.exact and self.probes is not None:
            raise ValueError("--probes has no use with --exact, which compares all vectors. Leave one out")
        return self


class Filtering(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Values that hits have to have."""

    filters: Annotated[dict[str, str], Option("filter", metavar="COLUMN=VALUE")] = pydantic.Field(
        default={}, description="Value of a column by which the index varies, such as locale=de. Repeatable."
    )


class Search(Opening, frozen=True, extra="forbid"):
    """The same, and the number of hits."""

    k: int = pydantic.Field(default=10, ge=1, description="Maximum hits of a question.")
