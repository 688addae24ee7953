"""Settings of the server.

options of `qpr serve` -> Serving -> jobs.web.server
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from jobs.options.address import Host, Port, TokenFile
from model.text.asked import MAX_CHARACTERS
from schemas.option import Option


class Limits(pydantic.BaseModel, frozen=True, extra="forbid", title="Limits"):
    """Limits of requests; a request beyond one is refused at once and named in the metrics."""

    max_body_kb: int = pydantic.Field(default=1024, ge=1, le=65_536, description="Maximum KiB of a request's body.")
    max_characters: int = pydantic.Field(default=MAX_CHARACTERS, ge=1, description="Maximum characters of a question.")
    max_questions: int = pydantic.Field(default=1000, ge=1, description="Maximum questions of a request.")
    max_k: int = pydantic.Field(default=100, ge=1, description="Maximum hits of a question.")
    max_hits: int = pydantic.Field(
        # a response is in memory as a whole: with answers of 300 bytes 6 MB
        default=20_000,
        ge=1,
        description="Maximum hits of a request: its questions times the hits of each.",
    )
    concurrency: int = pydantic.Field(default=256, ge=1, description="Maximum requests at a time; others get 503.")
    rate: Annotated[float | None, Option(default="no limit")] = pydantic.Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Maximum requests a second of one client address; others get 429.",
    )
    timeout: float = pydantic.Field(
        default=10.0, gt=0, allow_inf_nan=False, description="Seconds until a request is given up with 504."
    )

    @property
    def default_k(self) -> int:
        """Return the number of hits of a search that names none."""
        return min(10, self.most_k)

    @property
    def most_k(self) -> int:
        """Return the maximum number of hits of one question."""
        return min(self.max_k, self.max_hits)


class Serving(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Address, files and behaviour of the server."""

    host: Host = "127.0.0.1"
    port: Port = 8080
    token_file: TokenFile = None
    state: Annotated[str | None, Option(metavar="FOLDER")] = pydantic.Field(
        default=None, description="Local folder that keeps blocked answers, feedback and the audit sample."
    )
    threads: int = pydantic.Field(default=2, ge=1, le=256, description="Threads that search.")
    processes: int = pydantic.Field(
        default=0,
        ge=0,
        le=256,
        description="Processes that search in place of the threads, so that a server uses several cores.",
    )
    poll: float = pydantic.Field(
        default=5.0,
        ge=0,
        allow_inf_nan=False,
        description="Seconds between two checks for a new version of the index; 0: on request only.",
    )
    audits: int = pydantic.Field(
        default=20,
        ge=0,
        le=10_000,
        description="Certified answers that are drawn each day for the audit sample in --state.",
    )
    drain: float = pydantic.Field(
        default=30.0, ge=0, allow_inf_nan=False, description="Seconds for running requests after SIGTERM."
    )
    log: Literal["none", "requests", "questions"] = pydantic.Field(
        default="requests", description="Log requests on stderr, with or without their questions."
    )
    limits: Limits = Limits()
