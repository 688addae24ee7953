"""Fact types: wordings, answer and entities of a kind of question.

topics -> FACT_TYPES
"""

from __future__ import annotations

import dataclasses
from typing import Final, Literal

Generic = Literal["number", "year", "date", "yes_no", "unknown"]
"""The short answers that unrelated facts share."""

ALIGNED: Final = {"capital": "country", "currency": "country", "spoken": "country", "symbol": "element"}
"""Values that are true of their entity; all others are made up, the same in every run."""


@dataclasses.dataclass(frozen=True)
class FactType:
    """One kind of fact, such as the height of a person.

    Attributes:
        about: the kind of entity ``{a}``, or two kinds for ``{a}`` and ``{b}``.
        answer: the answer, with ``{v}`` for the value. With ``{a}`` in it the answer belongs to one fact; a bare
            ``{v}`` is rightly shared by all facts with that value.
        value: the kind of ``{v}``.
        generic: what the answer looks like when it is a short one that unrelated facts share.
        wordings: at least four questions, some without a common content word.
    """

    about: tuple[str, ...]
    answer: str
    value: str
    generic: Generic
    wordings: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.wordings) < 4:
            raise ValueError(f"a fact needs at least four wordings, got {self.wordings}")
        missing = [w for w in self.wordings if "{a}" not in w or ("{b}" in w) != (len(self.about) == 2)]
        if missing:
            raise ValueError(f"every wording names all entities of the fact, not so {missing[0]!r}")


def fact(about: str, answer: str, *wordings: str, value: str = "amount", generic: Generic = "unknown") -> FactType:
    """Return a `FactType`; ``about`` joins two kinds with a space."""
    return FactType(tuple(about.split(" ")), answer, value, generic, wordings)
