"""Conventions of the numbers and dates in one file, chosen once for the whole file.

columns of a file -> Conventions -> the interpretation of its ambiguous values
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pipelines.reading.headers.columns import Column
from pipelines.reading.values.casting import choose_convention

if TYPE_CHECKING:
    from pipelines.reading.batches import Batch


class Conventions:
    """The conventions of the columns of one file.

    A convention is chosen when the first ambiguous value needs it, by reading its column from the start of the file. So
    all parts of a file agree, and a file without ambiguous values is read once.

    Args:
        read: yields batches with some columns of the whole file.
    """

    def __init__(self, read: Callable[[Sequence[Column]], Iterator[Batch]]) -> None:
        self._read = read
        self._chosen: dict[Column, bool | None] = {}

    def choose(self, column: Column) -> bool | None:
        """Return whether a column follows the other convention, by `casting.choose_convention`."""
        if column not in self._chosen:
            text = dataclasses.replace(column, type=pa.string(), required=False)
            batches = (batch.rows[column.name].combine_chunks() for batch in self._read([text]))
            self._chosen[column] = choose_convention(batches, column.type)
        return self._chosen[column]

    def is_undecided(self, column: Column) -> bool:
        """Return True if a column has ambiguous values and no value in the file shows its convention."""
        return self._chosen.get(column, False) is None
