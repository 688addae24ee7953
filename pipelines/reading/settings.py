"""Settings of the reading of files: columns, delimiter and encoding.

options of a command -> TextFormat, NamedColumns -> pipelines.reading.sources
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import pydantic

from schemas.option import Option


class TextFormat(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Format of text files."""

    delimiter: Annotated[str | None, Option(metavar="CHAR", panel="Columns", default="found in each file")] = (
        pydantic.Field(default=None, description="Separator of CSV cells: one character or tab.")
    )
    encoding: Annotated[str | None, Option(metavar="NAME", panel="Columns", default="utf-8")] = pydantic.Field(
        default=None, description="Encoding of text files, such as cp1252."
    )


class NamedColumns(TextFormat, frozen=True, extra="forbid"):
    """Format of text files, and the names of their columns."""

    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Names that may be mapped to others."""

    column_names: Annotated[dict[str, str], Option("column", metavar="NAME=COLUMN", panel="Columns")] = pydantic.Field(
        default={},
        description="Name of a column that qpr reads, and its name in the files, such as question=query, or "
        "answer=reply.text of objects. Repeatable.",
    )

    @pydantic.field_validator("column_names")
    @classmethod
    def _are_columns(cls, names: dict[str, str]) -> dict[str, str]:
        for ours, theirs in names.items():
            if not ours or not theirs:
                raise ValueError("must be a name and a column of the files, such as question=query")
            if ours not in cls.COLUMNS:
                raise ValueError(f"there is no {ours}. Name one of {', '.join(cls.COLUMNS)}")
        return names
