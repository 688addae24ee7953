"""The version of an answerer that a certificate is about.

digests and settings of an opened index -> Version -> digest; two versions -> first_difference
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import pydantic

from schemas import __version__

RULES: Final = f"{__version__} (answers 7)"
"""Release, and the number of its rules for the order of hits, their probabilities and the guards.

Raise the number with every change by which an index gives other answers: a certificate promises those that were judged.
"""


class Version(pydantic.BaseModel, frozen=True, extra="forbid"):
    """All that decides which answer a question gets, and with which probability.

    Attributes:
        index: digest of the index, its model included.
        confidence: digest of the confidence model; None where there is none.
        mode: way of searching.
        reranker: digest of the reranker; None without one.
        guards: names of the guards, in their order.
        probes: lists searched for a query, or points of a graph kept in view; 0 where every search is exact.
        k: number of hits that are looked at.
        release: of this program, with the number of its rules; see `RULES`.
    """

    index: str
    confidence: str | None
    mode: str
    reranker: str | None
    guards: tuple[str, ...]
    probes: int = pydantic.Field(ge=0)
    k: int = pydantic.Field(ge=1)
    release: str

    @property
    def is_current(self) -> bool:
        """Return whether this program gives the answers of the version: its release and rules are the present ones."""
        return self.release == RULES

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all fields."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def first_difference(certified: Version, opened: Version) -> str | None:
    """Return the first field that differs with both values, None where none does."""
    for name in Version.model_fields:
        before, now = getattr(certified, name), getattr(opened, name)
        if before != now:
            return f"{name} was {_shown(before)}, now it is {_shown(now)}"
    return None


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return (", ".join(value) or "none") if isinstance(value, tuple) else str(value)[:20]
