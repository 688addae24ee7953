"""Settings of a simulated log and of the noise in its questions.

options of `qpr simulate` -> Simulation, Noise -> generator.simulate_log
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Self

import pydantic

from schemas.option import Option

Share = Annotated[float, pydantic.Field(ge=0, le=1)]
_CONTENT = Option(panel="Content")


class Noise(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Probability of each change; several changes can apply to one question.

    Values are read from a mapping of names to rates; the name ``none`` sets the rates that are not in it to 0.

    Attributes:
        lower_case: all letters lower case.
        unpunctuated: no punctuation, apostrophes included.
        filler: one of six fillers, such as "um", precedes the question.
        truncated: the end is cut off; at least half of the words remain.
        homophone: one word is replaced by one that sounds like it.
        dropped: one word is missing.
        doubled: one word is repeated.
        swapped: two neighbouring words are exchanged.
    """

    lower_case: Share = 0.5
    unpunctuated: Share = 0.4
    filler: Share = 0.03
    truncated: Share = 0.02
    homophone: Share = 0.04
    dropped: Share = 0.04
    doubled: Share = 0.02
    swapped: Share = 0.02

    @pydantic.model_validator(mode="before")
    @classmethod
    def _read_names(cls, rates: Any) -> Any:
        if not isinstance(rates, dict):
            return rates
        rates = dict(rates)
        if rates.get("none") == "":
            del rates["none"]
            rates = dict.fromkeys(cls.model_fields, 0.0) | rates
        if unknown := sorted(rates.keys() - cls.model_fields.keys()):
            names = ", ".join(cls.model_fields)
            raise ValueError(f"there is no {unknown[0]}. Write none or NAME=RATE with one of {names}")
        return rates


class Simulation(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of a simulated log; equal settings give equal rows."""

    events: int = pydantic.Field(default=1_000_000, ge=1, description="Log rows.")
    seed: int = pydantic.Field(
        default=0, ge=0, description="Seed of the log; the same seed and options give the same bytes."
    )
    from_dataset: Annotated[str | None, Option(metavar="FOLDER")] = pydantic.Field(
        default=None, description="Take facts and wordings from this dataset's clusters."
    )
    start: datetime.date = pydantic.Field(default=datetime.date(2024, 1, 1), description="Day of the first event.")
    days: int = pydantic.Field(default=30, ge=1, description="Days that the log covers.")
    facts: Annotated[int | None, _CONTENT._replace(default="1 for 10 events")] = pydantic.Field(
        default=None, ge=1, description="Facts to ask about, the most popular ones."
    )
    zipf: Annotated[float, _CONTENT] = pydantic.Field(
        default=0.8, ge=0, le=10, description="Popularity of a fact: rank to the power -X."
    )
    generic_share: Annotated[float, _CONTENT] = pydantic.Field(
        default=0.1, ge=0, le=1, description="Share of facts with a shared answer: Yes, 12, July 5."
    )
    unanswered_share: Annotated[float, _CONTENT] = pydantic.Field(
        default=0.01, ge=0, le=1, description="Share of events without a useful answer."
    )
    alias_share: Annotated[float, _CONTENT] = pydantic.Field(
        default=0.25, ge=0, le=1, description="Share of events that use another name of a thing."
    )
    noise: Annotated[Noise, _CONTENT._replace(metavar="NAME=RATE")] = pydantic.Field(
        default=Noise(), description="Rate of a change of wording; none: 0 for the others. Repeatable."
    )
    confidence: Annotated[bool, _CONTENT] = pydantic.Field(
        default=True, description="Fill the column confidence; lower on average where words were changed."
    )
    locale: Annotated[bool, _CONTENT] = pydantic.Field(
        default=True, description="Fill the column locale; a user has one."
    )

    @pydantic.model_validator(mode="after")
    def _ends_in_time(self) -> Self:
        if self.days > (datetime.date.max - self.start).days:
            raise ValueError(f"--days {self.days}: the log would go on after the year {datetime.MAXYEAR}")
        return self

    @pydantic.model_validator(mode="after")
    def _has_aliases(self) -> Self:
        if "alias_share" in self.model_fields_set and self.from_dataset is not None:
            raise ValueError("--alias-share has no use with --from-dataset, which has its own wordings. Leave one out")
        return self
