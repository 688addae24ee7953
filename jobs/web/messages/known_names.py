"""Refusal of fields and parameters that a request cannot have.

names of a request -> unknown_name -> a sentence about the first unknown one, or None
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pydantic


def unknown_name(given: Collection[str], known: Sequence[str], noun: str) -> str | None:
    """Return the sentence about the smallest name that is not known; None where all are."""
    unknown = set(given).difference(known)
    if not unknown:
        return None
    *others, last = known or ["none"]
    listed = f"there are {', '.join(others)} and {last}" if others else f"there is {last}"
    return f"unknown {noun} {min(unknown)[:60]!a}; {listed}"


def check_known(given: Any, known: Sequence[str], noun: str) -> Any:
    """Return the given value unchanged; an object must have no names but these.

    Raises:
        ValueError: it has another one.
    """
    fault = unknown_name(given.keys(), known, noun) if isinstance(given, Mapping) else None
    if fault is not None:
        raise ValueError(fault)
    return given


class Body(pydantic.BaseModel, frozen=True, extra="forbid", strict=True):
    """A body of a request, of which the first unknown field is described alone.

    pydantic describes each of them, which held up all other requests for .3 s where a body of 1 MB had 88,000.
    """

    @pydantic.model_validator(mode="before")
    @classmethod
    def _has_known_fields(cls, given: Any) -> Any:
        return check_known(given, [*cls.model_fields], "field")
