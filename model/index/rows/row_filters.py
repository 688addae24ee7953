"""Rows of an index that a request may find: those with its values whose answers are valid at its time.

columns of id tables -> RowFilters -> masks of the rows of each shard
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from schemas.arrays import Bools, Int64s
from schemas.errors import FilterError, QprError
from schemas.filters import VALID_UNTIL, FilterColumns

EXACT_ROWS: Final = 100_000
"""Number of rows up to which a search of some rows of an index may compare all of them.

For a tenant with 48,429 of the 536,489 rows of an index it takes 9 CPU ms."""

_ROWS_OF_A_POINT: Final = 25
"""Rows that can be compared in the time of one more point of a graph in view.

Of 536,489 questions, 53,655 by 910 points in view take 3.3 CPU ms and all compared 10.5, 27,102 by 1,820 points 7.2 and
all compared 5.9: equal times at about 35,000."""


class UnknownValueError(FilterError):
    """No question of the index has a value that a request names."""


_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

_NO_END: Final = np.iinfo(np.int64).max


class RowFilters:
    """Values and ends of validity of all rows, 4 and 8 bytes of each.

    Args:
        columns: that filter.
        tables: rows of each shard.
        live: of each shard the mask of the rows that are not deleted; None where all are live.

    Raises:
        QprError: the columns have 2**63 combinations of values or more.
    """

    def __init__(self, columns: FilterColumns, tables: Sequence[pa.Table], live: Sequence[Bools | None]) -> None:
        self._columns, self._live = columns, tuple(live)
        self._starts = [*itertools.accumulate(map(len, tables), initial=0)]
        codes = np.zeros(self._starts[-1], np.int64)
        self._places: dict[str, dict[str, int]] = {}
        alive = np.concatenate([np.ones(len(t), bool) if m is None else m for t, m in zip(tables, live, strict=True)])
        self.values: dict[str, tuple[str, ...]] = {}
        self._present: dict[str, frozenset[str]] = {}
        for name in columns.vary_by:
            column = pa.chunked_array([c for t in tables for c in t[name].chunks], pa.string()).combine_chunks()
            encoded = column.dictionary_encode()
            values, numbers = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
            self._places[name] = {value: place for place, value in enumerate(values)}
            self.values[name] = tuple(sorted(values[number] for number in np.unique(numbers[alive])))
            self._present[name] = frozenset(self.values[name])
            codes = codes * len(values) + numbers
        distinct = math.prod(map(len, self._places.values()))
        if distinct >= 2**63:  # their numbers would overflow
            raise QprError(f"{', '.join(columns.vary_by)}: too many combinations of values. Vary by fewer columns")
        self._codes = codes.astype(np.int32) if distinct < 2**31 else codes  # half the memory
        self._ends, self._boundaries = _ends(columns, tables)

    def checked(self, filters: Mapping[str, str] | None) -> tuple[str, ...]:
        """Return the values of a request in the order of the columns.

        Raises:
            UnknownValueError: no question has the value.
            FilterError: a column is missing or unknown.
        """
        given, names = dict(filters or {}), self._columns.vary_by
        for name in sorted(given.keys() - {*names}, key=str):
            columns = f"those of this index are {', '.join(names)}" if names else "this index has none"
            raise FilterError(f"{str(name)[:60]!a} is no column to filter by; {columns}. Leave it out")
        for name in names:
            if name not in given:
                raise FilterError(f"{name} is missing. Name a value of each of {', '.join(names)}")
            if not isinstance(given[name], str) or given[name] not in self._present[name]:
                raise UnknownValueError(f"no question has the {name} {str(given[name])[:60]!a}")
        return tuple(given[name] for name in names)

    def period(self, now: datetime.datetime) -> int:
        """Return the number of ends of validity that have come; while it is the same, the same answers are valid."""
        return int(np.searchsorted(self._boundaries, _microseconds(now), side="right"))

    def masks(self, values: Sequence[str], period: int) -> list[Bools]:
        """Return the mask of each shard's live rows that have these values and are valid in this period."""
        allowed = np.ones(self._starts[-1], bool)
        if values:
            code = 0
            for (_, places), value in zip(self._places.items(), values, strict=True):
                code = code * len(places) + places[value]
            allowed = self._codes == code
        if period:
            allowed &= self._ends > self._boundaries[period - 1]
        parts = [allowed[start:stop] for start, stop in itertools.pairwise(self._starts)]
        return [part if live is None else part & live for part, live in zip(parts, self._live, strict=True)]


def probes_within(probes: int, *, most: int, allowed: int, rows: int) -> int:
    """Return the probes of a search of a part of the rows.

    They are as many as compare the same number of rows that may be found as a search of all rows compares. Up to
    `EXACT_ROWS` they are those of an exact search, unless that would compare more rows than these probes.

    Args:
        probes: of a search of all rows.
        most: probes of an exact search, 0 where every search is exact.
        allowed: number of rows that may be found.
        rows: number of all.
    """
    if not most or allowed >= rows:
        return probes
    compared = probes * max(rows / most, _ROWS_OF_A_POINT)  # a list has rows / most
    if allowed <= EXACT_ROWS and allowed**2 <= compared * rows:  # allowed <= compared / share
        return most
    return min(most, math.ceil(probes * rows / allowed))


def _microseconds(moment: datetime.datetime) -> int:
    return (moment - _EPOCH) // datetime.timedelta(microseconds=1)


def _ends(columns: FilterColumns, tables: Sequence[pa.Table]) -> tuple[Int64s, Int64s]:
    """Return the end of each row in microseconds, and all of them once, ascending; both empty without such a column."""
    nothing = np.empty(0, np.int64)
    if columns.valid_until is None:
        return nothing, nothing
    parts = [t[VALID_UNTIL.name].cast(pa.int64()).fill_null(_NO_END).to_numpy() for t in tables]
    ends = np.concatenate([nothing, *parts])
    boundaries = np.unique(ends)
    return ends, boundaries[boundaries != _NO_END]
