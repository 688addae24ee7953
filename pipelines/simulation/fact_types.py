"""Fact types: wordings, answer and entities of a kind of question.

data/fact_types.json -> fact_types -> FactType
"""

from __future__ import annotations

import functools
import importlib.resources
from typing import Annotated, Final, Literal

import pydantic

Generic = Literal["number", "year", "date", "yes_no", "unknown"]
"""The short answers that unrelated facts share."""

ALIGNED: Final = {"capital": "country", "currency": "country", "spoken": "country", "symbol": "element"}
"""Values that are true of their entity; all others are invented, the same in every run."""


class FactType(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One kind of fact, such as the height of a person.

    Attributes:
        about: the kind of entity ``{a}``, or two kinds for ``{a}`` and ``{b}``.
        answer: the answer, with ``{v}`` for the value. With ``{a}`` in it the answer belongs to one fact; a bare
            ``{v}`` is rightly shared by all facts with that value.
        value: the kind of ``{v}``.
        generic: the kind of short answer, shared by unrelated facts, that can take the place of the answer.
        wordings: at least four questions, some without a common content word; each names all entities.
    """

    about: Annotated[tuple[str, ...], pydantic.Field(min_length=1, max_length=2)]
    answer: str
    value: str
    generic: Generic
    wordings: Annotated[tuple[str, ...], pydantic.Field(min_length=4)]

    @pydantic.model_validator(mode="after")
    def _check_entities(self) -> FactType:
        for wording in self.wordings:
            if "{a}" not in wording or ("{b}" in wording) != (len(self.about) == 2):
                raise ValueError(f"{wording!r} does not name all entities of the fact")
        return self


@functools.cache
def fact_types() -> tuple[FactType, ...]:
    """Read the fact types that ship with the package; their order and number decide the simulated logs."""
    file = importlib.resources.files("pipelines.simulation") / "data" / "fact_types.json"
    return pydantic.TypeAdapter(tuple[FactType, ...]).validate_json(file.read_bytes())
