"""Settings of the protection of personal data.

options of `qpr clusters` -> Privacy -> scrub.scrub_columns
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

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of a log whose texts are scrubbed."""
        return {"questions": ("question",), "all": ("question", "answer"), "off": ()}[self.scrub]
