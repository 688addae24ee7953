"""Values as files write them, made the type a column has; what cannot be read as a number or a time is null.

string, number or time array -> cast_values -> string, float64 or timestamp array

Whole arrays are cast by Arrow where it can; where one value is in the way, Python takes the whole array. Both read a
value that both can read in the same way.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reading.columns import TIMESTAMP

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECONDS_BELOW: Final = 1e11
"""Of larger magnitude an epoch number counts milliseconds, then microseconds, then nanoseconds, a factor of 1,000 each.

1e11 seconds is the year 5138 and 1e11 milliseconds 1973.
"""
_FIRST_US, _LAST_US = -62_135_596_800e6, 253_402_300_799e6  # years 1 to 9999, the ones Python can write


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


def cast_values(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return ``values`` as ``kind``, which is string, float64 or `TIMESTAMP`; strings keep their bytes unchecked.

    Times are ISO 8601 text (UTC where it names no zone), timestamps and dates of any unit and zone, or numbers since
    1970 in seconds, milliseconds, microseconds or nanoseconds, told apart by their size. Unreadable is null, and so
    is a number that is not finite.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), kind)
    if kind == pa.string():
        return pc.cast(values, kind, safe=False)
    if is_text(values.type):
        texts = pc.cast(values, pa.string(), safe=False)
        return numbers_of_text(texts) if kind == pa.float64() else times_of_text(texts)
    if kind == pa.float64():
        return _finite(pc.cast(values, kind, safe=False))
    if pa.types.is_temporal(values.type):
        return pc.cast(pc.cast(values, pa.timestamp("us", tz=getattr(values.type, "tz", None)), safe=False), kind)
    return times_of_numbers(pc.cast(values, pa.float64(), safe=False))


def numbers_of_text(texts: pa.Array) -> pa.Array:
    """Return the number each string writes; null where it writes none or one that is not finite."""
    try:
        return _finite(pc.cast(texts, pa.float64()))
    except pa.ArrowInvalid:
        return _finite(_each(texts, _number, pa.float64()))


def times_of_text(texts: pa.Array) -> pa.Array:
    """Return the time each string writes, as ISO 8601 or as a number since 1970; null where it writes none."""
    for kind in (TIMESTAMP, pa.timestamp("us")):  # Arrow wants a zone in all rows or in none
        try:
            return pc.cast(pc.cast(texts, kind), TIMESTAMP)
        except pa.ArrowInvalid:
            continue
    return _each(texts, _time, TIMESTAMP)


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


def _each(texts: pa.Array, read: Callable[[str], object], kind: pa.DataType) -> pa.Array:
    """Apply ``read`` once to every distinct string."""
    codes = texts.dictionary_encode()
    values = [read(text) if text is not None else None for text in codes.dictionary.to_pylist()]
    return pa.array(values, kind).take(codes.indices)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _time(text: str) -> datetime.datetime | None:
    number = _number(text)
    if number is not None:
        return times_of_numbers(pa.array([number]))[0].as_py() if math.isfinite(number) else None
    try:
        time = datetime.datetime.fromisoformat(text.strip())
        return (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None
