"""Times of texts, of numbers since 1970 and of stored timestamps, all within the years 1 to 9999.

distinct texts -> interpret_times -> both interpretations; numbers -> times_of_numbers; timestamps -> times_in_range
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reading.headers.columns import TIMESTAMP
from pipelines.reading.values.parsing import parse_date, parse_mail_date

_SECONDS_BELOW: Final = 1e11
"""Magnitude from which an epoch number is in milliseconds; 1e14: in microseconds, 1e17: in nanoseconds.

1e11 seconds is the year 5138, 1e11 milliseconds the year 1973.
"""
_FIRST_S, _LAST_S = -62_135_596_800, 253_402_300_799  # years 1 to 9999, the range of Python's datetime
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6}
"""Steps a second of units that reach other years; nanoseconds in 64 bits end in 2262."""

_DAY: Final = re.compile(r"\s*(?:19|20|21(?=00))\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\s*", re.ASCII)
"""Dates of the years 1900 to 2100 in ISO 8601's basic form; as seconds they were days of 1970."""

_SERIAL: Final = re.compile(r"\s*(\d{5})(?:[.,](\d{1,15}))?\s*", re.ASCII)
_SERIAL_DAYS: Final = range(36_526, 73_051)
"""Numbers of days that spreadsheets write for the years 2000 to 2099; as seconds they were hours of 1970-01-01."""
_SERIAL_START: Final = datetime.datetime(1899, 12, 30, tzinfo=datetime.UTC)
"""Day 0 of spreadsheets, whose year 1900 has a 29 February."""


def times_of_numbers(numbers: pa.Array) -> pa.Array:
    """Return the times of numbers since 1970, whose size shows their unit; null outside of the years 1 to 9999."""
    size = pc.abs(numbers)
    unit = pc.if_else(pc.less(size, _SECONDS_BELOW), 1e6, pc.if_else(pc.less(size, _SECONDS_BELOW * 1e3), 1e3, 1.0))
    scale = pc.if_else(pc.less(size, _SECONDS_BELOW * 1e6), unit, 1e-3)
    micros = pc.round(pc.multiply(numbers, scale))
    first, last = _FIRST_S * 1e6, _LAST_S * 1e6
    reachable = pc.and_(pc.greater_equal(micros, first), pc.less_equal(micros, last))  # false for nan
    return pc.cast(pc.cast(pc.if_else(reachable, micros, None), pa.int64()), TIMESTAMP)


def times_in_range(times: pa.Array) -> pa.Array:
    """Return timestamps or dates without those outside of the years 1 to 9999, which become null."""
    days = pa.types.is_date32(times.type)
    stored = pc.cast(times, pa.timestamp("s")) if days else times
    scale = _PER_SECOND.get(getattr(stored.type, "unit", "ms"))  # a date64 has milliseconds and no unit
    if scale is None:
        return times
    steps = pc.cast(stored, pa.int64())
    reachable = pc.and_(pc.greater_equal(steps, _FIRST_S * scale), pc.less(steps, (_LAST_S + 1) * scale))
    return pc.if_else(reachable, times, None)


def interpret_times(texts: Sequence[str | None]) -> tuple[pa.Array, pa.Array]:
    """Return the times of texts and of numbers since 1970, twice; of dates whose order is open, both interpretations.

    The texts are in the form of ISO 8601 or RFC 2822. Eight digits such as 20250131 are a date, and 45688.75 is the day
    number of a spreadsheet, rounded to seconds.
    """
    numbers = [None if text is None else _parse_number(text) for text in texts]
    dates = [
        (None, None) if text is None or number is not None else _parse_time(text)
        for text, number in zip(texts, numbers, strict=True)
    ]
    of_numbers = times_of_numbers(pa.array(numbers, pa.float64()))  # at once: one by one takes 100 times as long
    day_first, month_first = (pa.array([pair[i] for pair in dates], TIMESTAMP) for i in (0, 1))
    return pc.coalesce(of_numbers, day_first), pc.coalesce(of_numbers, month_first)


def _parse_number(text: str) -> float | None:
    if _DAY.fullmatch(text) or _parse_serial(text):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _parse_serial(text: str) -> datetime.datetime | None:
    match = _SERIAL.fullmatch(text)
    if not match or int(match[1]) not in _SERIAL_DAYS:
        return None
    seconds = round(float(f"0.{match[2] or 0}") * 86_400)
    return _SERIAL_START + datetime.timedelta(days=int(match[1]), seconds=seconds)


def _parse_time(text: str) -> tuple[datetime.datetime | None, datetime.datetime | None]:
    if serial := _parse_serial(text):
        return serial, serial
    try:
        time = datetime.datetime.fromisoformat(text.strip())
        time = (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        dates = parse_date(text)
        if dates != (None, None):
            return dates
        mailed = parse_mail_date(text)
        return mailed, mailed
    return time, time
