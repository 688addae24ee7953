"""Values as files write them, made the type a column has; what cannot be read as a number or a time is null.

string, number or time array -> cast_values -> string, float64 or timestamp array

Whole arrays are cast by Arrow where it can; where one value is in the way, Python reads every distinct value. Both
read a value that both can read in the same way.

A text can have two readings: ``1,234`` by its decimal mark, ``01/02/2025`` by the order of day and month. The usual
one has a decimal point, or its day first. Of two readings the convention of the file decides.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reading.headers.columns import TIMESTAMP
from pipelines.reading.values.readings import number_readings, time_readings

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECONDS_BELOW: Final = 1e11
"""Of larger magnitude an epoch number counts milliseconds, then microseconds, then nanoseconds, a factor of 1,000 each.

1e11 seconds is the year 5138 and 1e11 milliseconds 1973.
"""
_FIRST_US, _LAST_US = -62_135_596_800e6, 253_402_300_799e6  # years 1 to 9999, the ones Python can write


_MAY_BE_THOUSANDS: Final = r"^\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*$"
"""A number of which the point may separate thousands, from 1.000 to 999.999."""


class Readings(NamedTuple):
    """What strings mean by either convention, null where one has no meaning for a string."""

    usual: pa.Array
    other: pa.Array

    @property
    def is_ambiguous(self) -> pa.Array:
        """Return whether a string has two different meanings."""
        return pc.fill_null(pc.not_equal(self.usual, self.other), False)


Choose = Callable[[], bool | None]
"""A function that returns whether a file follows the other convention, None if nothing in the file shows it."""


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a type holds text, or bytes that ought to be text."""
    types = pa.types
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(bool(test(kind)) for test in tests)


def is_castable(stored: pa.DataType, kind: pa.DataType) -> bool:
    """Tell whether `cast_values` takes values stored as one type and wanted as another."""
    types = pa.types
    if types.is_dictionary(stored):
        return is_castable(stored.value_type, kind)
    number = types.is_integer(stored) or types.is_floating(stored) or types.is_decimal(stored)
    if is_text(stored) or number or types.is_null(stored):
        return True
    if kind == TIMESTAMP:
        return bool(types.is_timestamp(stored) or types.is_date(stored))
    return bool(types.is_boolean(stored) or (kind == pa.string() and types.is_temporal(stored)))


def cast_values(values: pa.Array, kind: pa.DataType, choose: Choose = lambda: None) -> pa.Array:
    """Return ``values`` as ``kind``, which is string, float64 or `TIMESTAMP`; strings keep their bytes unchecked.

    Times are ISO 8601 text (UTC where it names no zone), dates with day, month and year in any usual order, timestamps
    and dates of any unit and zone, or numbers since 1970 in seconds, milliseconds, microseconds or nanoseconds, told
    apart by their size. Unreadable is null, and so is a number that is not finite.

    Args:
        values: as the file holds them.
        kind: the wanted type.
        choose: called if a text has two readings; if it returns None, numbers have a decimal point and times are null.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), kind)
    if kind == pa.string():
        return pc.cast(values, kind, safe=False)
    if is_text(values.type):
        texts = pc.cast(values, pa.string(), safe=False)
        return numbers_of_text(texts, choose) if kind == pa.float64() else times_of_text(texts, choose)
    if kind == pa.float64():
        return _finite(pc.cast(values, kind, safe=False))
    if pa.types.is_temporal(values.type):
        return pc.cast(pc.cast(values, pa.timestamp("us", tz=getattr(values.type, "tz", None)), safe=False), kind)
    return times_of_numbers(pc.cast(values, pa.float64(), safe=False))


def numbers_of_text(texts: pa.Array, choose: Choose = lambda: None) -> pa.Array:
    """Return the number each string writes; null where it writes none or one that is not finite."""
    try:
        numbers = _finite(pc.cast(texts, pa.float64()))
    except pa.ArrowInvalid:
        readings = readings_of(texts, pa.float64())
    else:
        if not _may_be_thousands(texts, numbers) or not choose():
            return numbers
        readings = readings_of(texts, pa.float64())
    return _select(readings, choose, undecided=readings.usual)


def times_of_text(texts: pa.Array, choose: Choose = lambda: None) -> pa.Array:
    """Return the time each string writes, as a date or as a number since 1970; null where it writes none."""
    for kind in (TIMESTAMP, pa.timestamp("us")):  # Arrow wants a zone in all rows or in none
        try:
            return pc.cast(pc.cast(texts, kind), TIMESTAMP)
        except pa.ArrowInvalid:
            continue
    return _select(readings_of(texts, TIMESTAMP), choose, undecided=pa.nulls(len(texts), TIMESTAMP))


def readings_of(texts: pa.Array, kind: pa.DataType) -> Readings:
    """Return both readings of strings as numbers or times, found once for every distinct string."""
    codes = texts.dictionary_encode()
    read = number_readings if kind == pa.float64() else _times
    pairs = [(None, None) if text is None else read(text) for text in codes.dictionary.to_pylist()]
    return Readings(*(pa.array([pair[i] for pair in pairs], kind).take(codes.indices) for i in (0, 1)))


def choose_convention(batches: Iterable[pa.Array], kind: pa.DataType) -> bool | None:
    """Return whether a column follows the other convention: a comma as decimal mark, or the month first.

    The first batch that holds a value with one reading alone decides, by the majority of its rows; of as many for
    either, the usual convention. None: no batch holds such a value.

    Args:
        batches: the strings of the whole column, in the file's order.
        kind: float64 or `TIMESTAMP`.
    """
    for texts in batches:
        usual, other = readings_of(texts, kind)
        votes = [
            pc.sum(pc.and_(pc.is_valid(a), pc.is_null(b))).as_py() or 0 for a, b in ((usual, other), (other, usual))
        ]
        if any(votes):
            return bool(votes[1] > votes[0])
    return None


def times_of_numbers(numbers: pa.Array) -> pa.Array:
    """Return the time of numbers since 1970, their unit told by their size; null where it is out of reach."""
    size = pc.abs(numbers)
    unit = pc.if_else(pc.less(size, _SECONDS_BELOW), 1e6, pc.if_else(pc.less(size, _SECONDS_BELOW * 1e3), 1e3, 1.0))
    scale = pc.if_else(pc.less(size, _SECONDS_BELOW * 1e6), unit, 1e-3)
    micros = pc.round(pc.multiply(numbers, scale))
    reachable = pc.and_(pc.greater_equal(micros, _FIRST_US), pc.less_equal(micros, _LAST_US))  # false for nan
    return pc.cast(pc.cast(pc.if_else(reachable, micros, None), pa.int64()), TIMESTAMP)


def _finite(numbers: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_finite(numbers), numbers, None)


def _may_be_thousands(texts: pa.Array, numbers: pa.Array) -> bool:
    suspects = pc.and_(pc.greater_equal(pc.abs(numbers), 1), pc.less(pc.abs(numbers), 1000))
    if not pc.any(suspects).as_py():  # all probabilities: the usual case, without a look at the texts
        return False
    return bool(pc.any(pc.match_substring_regex(texts.filter(suspects), _MAY_BE_THOUSANDS)).as_py())


def _select(readings: Readings, choose: Choose, *, undecided: pa.Array) -> pa.Array:
    """Return the reading of each string that has one, and of two the one of the file's convention."""
    alone = pc.coalesce(*readings)
    ambiguous = readings.is_ambiguous
    if not pc.any(ambiguous).as_py():
        return alone
    other = choose()
    return pc.if_else(ambiguous, undecided if other is None else readings.other if other else readings.usual, alone)


def _times(text: str) -> tuple[datetime.datetime | None, datetime.datetime | None]:
    """Return the time of ISO 8601 text or of a number since 1970, twice, else both readings of a date."""
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        time = times_of_numbers(pa.array([number]))[0].as_py() if math.isfinite(number) else None
        return time, time
    try:
        time = datetime.datetime.fromisoformat(text.strip())
        time = (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return time_readings(text)
    return time, time
