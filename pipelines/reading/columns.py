"""The columns a pipeline wants, and where a file has them under another name.

columns, names given on the command line, names in the file -> locate_columns -> our name to the file's
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import pyarrow as pa

from schemas.errors import QprError

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
"""What every time becomes."""

_MOST_NAMES_SHOWN: Final = 30


@dataclasses.dataclass(frozen=True)
class Column:
    """One column to read.

    Attributes:
        name: our name for it.
        type: string, float64 or `TIMESTAMP`.
        required: whether a file without it is an error; an optional column that is not there is null.
    """

    name: str
    type: pa.DataType
    required: bool = True

    def __post_init__(self) -> None:
        if self.type not in (pa.string(), pa.float64(), TIMESTAMP):
            raise ValueError(f"column {self.name}: can read string, float64 and {TIMESTAMP}, not {self.type}")

    @property
    def option(self) -> str:
        """Return the command-line option that maps it to another name."""
        return f"--{self.name.replace('_', '-')}-column"


def locate_columns(
    columns: Sequence[Column], names: Mapping[str, str], available: Collection[str], *, url: str, mappable: bool = True
) -> dict[str, str]:
    """Return the file's name of every column that is there, by our name for it.

    Args:
        columns: what to look for.
        names: our name to the file's, where the user said that they differ.
        available: the names in the file.
        url: the file, for the message.
        mappable: whether the command has options that map columns, for the message.

    Raises:
        QprError: a required or explicitly mapped column is missing.
    """
    located = {c.name: names.get(c.name, c.name) for c in columns if names.get(c.name, c.name) in available}
    missing = [c for c in columns if c.name not in located and (c.required or c.name in names)]
    if not missing:
        return located
    shown = ", ".join(list(available)[:_MOST_NAMES_SHOWN]) + (", …" if len(available) > _MOST_NAMES_SHOWN else "")
    wanted = ", ".join(names.get(c.name, c.name) for c in missing)
    example = next((name for name in available if name not in located.values()), "NAME")
    step = f"Say which it is, such as {missing[0].option} {example}" if mappable else "Rename the file's columns"
    raise QprError(f"{url}: no column {wanted}; the file has: {shown or 'none'}. {step}")
