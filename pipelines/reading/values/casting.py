"""Casting of values as files write them to the type of their column; an unreadable number or time becomes null.

string, number or time array -> cast_values -> string, float64 or timestamp array

Arrow casts a whole array at once; if it rejects one value, Python parses each distinct value. Both give the same result
for a value that both can read.

A text can have two interpretations: ``1,234`` by its decimal mark, ``01/02/2025`` by the order of day and month. The
usual one has a decimal point, or its day first. The convention of the file decides between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reading.headers.columns import TIMESTAMP
from pipelines.reading.values.parsing import parse_number
from pipelines.reading.values.times import interpret_times, times_in_range, times_of_numbers

_INTEGERS_BELOW: Final = 2.0**53
"""Magnitude up to which floating-point numbers represent each integer."""

_MAY_BE_THOUSANDS: Final = r"^\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*$"
"""Numbers whose point may separate thousands, from 1.000 to 999.999."""


class Interpretations(NamedTuple):
    """The values of strings under each convention; null where a string has none."""

    usual: pa.Array
    other: pa.Array

    @property
    def is_ambiguous(self) -> pa.Array:
        """Return a mask of the strings with two different values."""
        return pc.fill_null(pc.not_equal(self.usual, self.other), False)


Choose = Callable[[], bool | None]
"""A function that returns True if a file follows the other convention, None if no value of the file shows which."""


def is_text(kind: pa.DataType) -> bool:
    """Return True for types of text, and of bytes that should be text."""
    types = pa.types
    plain = (types.is_string, types.is_large_string, types.is_string_view)
    as_bytes = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(bool(test(kind)) for test in (*plain, *as_bytes))


def is_castable(stored: pa.DataType, kind: pa.DataType) -> bool:
    """Return True if `cast_values` can cast values of type ``stored`` to ``kind``."""
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
    """Return ``values`` as ``kind``, which is string, float64 or `TIMESTAMP`; the bytes of strings are not checked.

    Times are ISO 8601 text (UTC where it names no zone), dates with day, month and year in any usual order, dates of
    mails (RFC 2822), timestamps and dates of any unit and zone, or numbers since 1970 in seconds, milliseconds,
    microseconds or nanoseconds, distinguished by their size. The text ``20250131`` is a date, a stored number of this
    size is in seconds. Unreadable values, numbers that are not finite and times outside of the years 1 to 9999 become
    null, also where ``kind`` is string.

    Args:
        values: as stored in the file.
        kind: type of the result.
        choose: called if a text has two interpretations; where it returns None, numbers have a decimal point and times
            become null.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), kind)
    if pa.types.is_floating(values.type):
        values = _finite(values)
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        values = times_in_range(values)
    if kind == pa.string():
        return _texts_of_numbers(values) if pa.types.is_floating(values.type) else pc.cast(values, kind, safe=False)
    if is_text(values.type):
        texts = pc.cast(values, pa.string(), safe=False)
        return numbers_of_text(texts, choose) if kind == pa.float64() else times_of_text(texts, choose)
    if kind == pa.float64():
        return pc.cast(values, kind, safe=False)
    if pa.types.is_temporal(values.type):
        return pc.cast(pc.cast(values, pa.timestamp("us", tz=getattr(values.type, "tz", None)), safe=False), kind)
    return times_of_numbers(pc.cast(values, pa.float64(), safe=False))


def numbers_of_text(texts: pa.Array, choose: Choose = lambda: None) -> pa.Array:
    """Return the numbers in strings; null for other text and for numbers that are not finite."""
    try:
        numbers = _finite(pc.cast(texts, pa.float64()))
    except pa.ArrowInvalid:
        pairs = interpret(texts, pa.float64())
    else:
        if not _may_be_thousands(texts, numbers) or not choose():
            return numbers
        pairs = interpret(texts, pa.float64())
    return _select(pairs, choose, undecided=pairs.usual)


def times_of_text(texts: pa.Array, choose: Choose = lambda: None) -> pa.Array:
    """Return the times in strings, written as dates or as numbers since 1970; null for other text."""
    for kind in (TIMESTAMP, pa.timestamp("us")):  # Arrow casts only if all rows have a zone or none has
        try:
            return times_in_range(pc.cast(pc.cast(texts, kind), TIMESTAMP))
        except pa.ArrowInvalid:
            continue
    return _select(interpret(texts, TIMESTAMP), choose, undecided=pa.nulls(len(texts), TIMESTAMP))


def interpret(texts: pa.Array, kind: pa.DataType) -> Interpretations:
    """Return both interpretations of strings as numbers or times; each distinct string is parsed once."""
    codes = texts.dictionary_encode()
    distinct = codes.dictionary.to_pylist()
    pairs = interpret_times(distinct) if kind == TIMESTAMP else _interpret_numbers(distinct)
    return Interpretations(*(values.take(codes.indices) for values in pairs))


def choose_convention(batches: Iterable[pa.Array], kind: pa.DataType) -> bool | None:
    """Return whether a column follows the other convention: a comma as decimal mark, or the month first.

    The first batch with values that have only one interpretation decides by the majority of these rows; a tie is the
    usual convention. None: no batch has such a value.

    Args:
        batches: the strings of the whole column, in the file's order.
        kind: float64 or `TIMESTAMP`.
    """
    for texts in batches:
        usual, other = interpret(texts, kind)
        votes = [
            pc.sum(pc.and_(pc.is_valid(a), pc.is_null(b))).as_py() or 0 for a, b in ((usual, other), (other, usual))
        ]
        if any(votes):
            return bool(votes[1] > votes[0])
    return None


def _texts_of_numbers(numbers: pa.Array) -> pa.Array:
    """Return floating-point numbers as text, whole ones as integers have it: Arrow writes 123456789012 as 1.23e+11."""
    exact = pc.cast(numbers, pa.float64())
    is_whole = pc.and_(pc.equal(pc.trunc(exact), exact), pc.less(pc.abs(exact), _INTEGERS_BELOW))
    integers = pc.cast(pc.if_else(is_whole, exact, None), pa.int64())
    return pc.coalesce(pc.cast(integers, pa.string()), pc.cast(numbers, pa.string()))


def _finite(numbers: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_finite(numbers), numbers, None)


def _may_be_thousands(texts: pa.Array, numbers: pa.Array) -> bool:
    suspects = pc.and_(pc.greater_equal(pc.abs(numbers), 1), pc.less(pc.abs(numbers), 1000))
    if not pc.any(suspects).as_py():  # all probabilities: the usual case, without a look at the texts
        return False
    return bool(pc.any(pc.match_substring_regex(texts.filter(suspects), _MAY_BE_THOUSANDS)).as_py())


def _select(pairs: Interpretations, choose: Choose, *, undecided: pa.Array) -> pa.Array:
    """Return the only interpretation of each string, or of two the one of the file's convention."""
    alone = pc.coalesce(*pairs)
    ambiguous = pairs.is_ambiguous
    if not pc.any(ambiguous).as_py():
        return alone
    other = choose()
    return pc.if_else(ambiguous, undecided if other is None else pairs.other if other else pairs.usual, alone)


def _interpret_numbers(texts: Sequence[str | None]) -> tuple[pa.Array, pa.Array]:
    pairs = [(None, None) if text is None else parse_number(text) for text in texts]
    return pa.array([point for point, _ in pairs], pa.float64()), pa.array([comma for _, comma in pairs], pa.float64())
