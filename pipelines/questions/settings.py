"""Settings of the row filters and of questions with several answers.

options of `qpr clusters` -> Validation, Ambiguity -> row_filters.validate, ambiguity.settle_answers
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from schemas.option import Option


class Validation(pydantic.BaseModel, frozen=True, extra="forbid", title="Limits"):
    """Filters of readable rows.

    Attributes:
        ignored_answers: answers, compared as `schemas.text.fold` reads them, or answer ids.
    """

    min_confidence: Annotated[float | None, Option(default="no minimum")] = pydantic.Field(
        default=None,
        allow_inf_nan=False,
        description="Reject rows of lower confidence; a row without one is kept.",
    )
    locale: Annotated[str | None, Option(metavar="NAME", default="all locales")] = pydantic.Field(
        default=None,
        description="Keep rows of this locale alone, such as en-GB (en_gb is the same) or en (all of en-GB and en-US "
        "too), and rows without a locale.",
    )
    ignored_answers: Annotated[tuple[str, ...], Option("ignore-answer", default="none")] = pydantic.Field(
        default=(),
        description="Reject rows with this answer or answer id, such as a fallback; @FILE: one a line. Repeatable.",
    )

    @property
    def filters(self) -> dict[str, str]:
        """Return the columns whose values decide which rows are kept, each with its option."""
        given = {"confidence": (self.min_confidence, "--min-confidence"), "locale": (self.locale, "--locale")}
        return {name: option for name, (limit, option) in given.items() if limit is not None}


class Ambiguity(pydantic.BaseModel, frozen=True, extra="forbid", title="Limits"):
    """Limits below which a question with several answers is rejected."""

    min_answer_share: Annotated[float, Option(default="0.5; 0 with --coherence paper")] = pydantic.Field(
        default=0.5,
        ge=0,
        le=1,
        description="Minimum share of a question's rows that have its most frequent answer; 0: keep every answer.",
    )
    # two: one row against one is a coin toss
    min_answer_events: int = pydantic.Field(
        default=2, ge=1, description="Minimum number of rows with the most frequent answer."
    )
