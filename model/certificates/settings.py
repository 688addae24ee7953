"""Settings of a certificate.

options of `qpr certify` -> Promise -> model.certificates.procedure
"""

from __future__ import annotations

import datetime
from typing import Annotated, Final

import pydantic

from schemas.option import Option

LEAST_DELTA: Final = 0.0001
"""Minimum chance of a broken promise."""


class Promise(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The promised maximum share of wrong answers, and the chance that it is broken."""

    alpha: float = pydantic.Field(
        default=0.02, ge=0.001, le=0.5, description="Promised maximum share of wrong answers among the given ones."
    )
    delta: float = pydantic.Field(
        default=0.05,
        ge=LEAST_DELTA,
        le=0.5,
        description="Maximum chance that a certificate is made though the share of wrong answers is larger.",
    )


class Certification(Promise, frozen=True, extra="forbid"):
    """The same, with the use of the judged requests and the life of the certificate."""

    min_probability: float = pydantic.Field(
        default=0,
        ge=0,
        le=1,
        description="Requests with a lower probability need no verdict and are never answered. Fix it before judging.",
    )
    days: int = pydantic.Field(
        default=30, ge=1, le=366, description="Days after the last request until the certificate expires."
    )
    log_until: Annotated[datetime.date | None, Option(default="the day of the index's build")] = pydantic.Field(
        default=None, description="Last day of the log that was indexed; requests have to be later."
    )


class Simulation(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Simulated certificates in place of a real one."""

    simulate: bool = pydantic.Field(
        default=False,
        description="Instead: certify simulated requests with known answers; count certificates that promise too much.",
    )
    draws: int = pydantic.Field(
        default=2_000, ge=10, le=1_000_000, description="Simulated samples of each kind of traffic."
    )
    sample: int = pydantic.Field(default=2_000, ge=50, le=1_000_000, description="Judged requests in each of them.")
    seed: int = pydantic.Field(default=0, ge=0, description="Seed of the simulation.")
