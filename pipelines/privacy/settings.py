"""Settings of the protection of people who asked.

options of `qpr clusters` -> Privacy -> scrub.scrub_columns, k_users.limit_users, payloads
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from schemas.option import Option


class Privacy(pydantic.BaseModel, frozen=True, extra="forbid", title="Privacy"):
    """Protection of the people who asked."""

    scrub: Annotated[Literal["questions", "all", "off"], Option(default="questions; off with --coherence paper")] = (
        pydantic.Field(
            default="questions",
            description="Replace e-mail addresses, phone, card and account numbers, IP addresses and URLs with "
            "credentials in questions, or in all texts; answers often name a public one.",
        )
    )

    min_users: int = pydantic.Field(
        default=1,
        ge=1,
        description="Minimum number of distinct users of a question; rows of the others are rejected without their "
        "texts. Needs the column user_id; 5 is recommended.",
    )
    max_events_of_user: Annotated[int | None, Option(default="no limit")] = pydantic.Field(
        default=None,
        ge=1,
        description="Maximum number of rows that count of one user and question. Needs the column user_id.",
    )

    max_answer_events_of_user: Annotated[int | None, Option(default="no limit")] = pydantic.Field(
        default=None,
        ge=1,
        description="Maximum number of rows that count of one user and answer, and so of one user in a cluster. Needs "
        "the column user_id.",
    )

    @property
    def options_of_users(self) -> list[str]:
        """Return the options that need user ids."""
        given = {
            "--min-users": self.min_users > 1,
            "--max-events-of-user": self.max_events_of_user is not None,
            "--max-answer-events-of-user": self.max_answer_events_of_user is not None,
        }
        return [option for option, is_given in given.items() if is_given]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of a log whose texts are scrubbed."""
        return {"questions": ("question",), "all": ("question", "answer"), "off": ()}[self.scrub]
