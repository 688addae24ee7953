"""Parsing of a number or date under both conventions: decimal marks and the order of day and month differ by country.

text -> parse_number, parse_date -> its usual and its other interpretation; text -> parse_mail_date -> its time
"""

from __future__ import annotations

import datetime
import email.utils
import math
import re
from typing import Final

_EPOCH_OF_TWO_DIGITS: Final = 69
"""Years of two digits below it are 20xx, as in `time.strptime`."""

_SPACES: Final = "' \u00a0\u202f\u2019"  # apostrophe, space and narrow spaces separate thousands in both conventions
_POINT: Final = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:([,{_SPACES}])\d{{3}})(?:\1\d{{3}})*(?:\.\d*)?")
_COMMA: Final = re.compile(
    rf"[+-]?(?:(?:\d+|[1-9]\d{{0,2}}(?:([.{_SPACES}])\d{{3}})(?:\1\d{{3}})*)(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?"
)
_NO_DIGIT: Final = re.compile(rf"[,{_SPACES}]")

_DATE: Final = re.compile(
    r"(?P<a>\d{4}|\d{1,2})(?P<separator>[./-])(?P<b>\d{1,2})(?P=separator)(?P<c>\d{4}|\d{1,2})"
    r"(?:,?[ T]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
)

_MAIL_DATE: Final = re.compile(
    r"(?:[A-Z][a-z]{2}, +)?\d{1,2} +[A-Z][a-z]{2} +[1-9]\d{3} +\d{2}:\d{2}(?::\d{2})? +"
    r"(?:[+-]\d{4}|UTC?|GMT|Z|[ECMP][SD]T)(?: +\([^()]*\))?",
    re.ASCII,
)
"""Date and time of RFC 2822 with one of its zones; another name of a zone means no certain time."""


def parse_number(text: str) -> tuple[float | None, float | None]:
    """Return the finite number in a text with a decimal point, and the one with a decimal comma.

    The other mark, a space or an apostrophe may separate groups of three digits: ``1.234,56`` has one
    interpretation, ``1,234`` two, and ``12`` the same twice.
    """
    stripped = text.strip()
    point = _finite(_NO_DIGIT.sub("", stripped) if _POINT.fullmatch(stripped) else stripped)
    if not _COMMA.fullmatch(stripped):
        return point, None
    whole, mark, rest = stripped.partition(",")
    digits = re.sub(rf"[.{_SPACES}]", "", whole)
    return point, _finite(f"{digits}.{rest}" if mark else digits)


def parse_date(text: str) -> tuple[datetime.datetime | None, datetime.datetime | None]:
    """Return the time in a text read as a date with its day first, and with its month first; UTC if it names no zone.

    Dates with dots have their day first. A year of four digits may come first, before the month.
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        return None, None
    a, b, c = match["a"], match["b"], match["c"]
    if len(a) == 4:
        moment = _moment(match, a, b, c)
        return moment, moment
    if len(c) != 2 and len(c) != 4:
        return None, None
    return _moment(match, c, b, a), None if match["separator"] == "." else _moment(match, c, a, b)


def parse_mail_date(text: str) -> datetime.datetime | None:
    """Return the time, in UTC, of a text such as ``Tue, 03 Nov 2026 10:00:00 +0000``, as in mails and HTTP headers."""
    stripped = text.strip()
    if not _MAIL_DATE.fullmatch(stripped):
        return None
    try:
        moment = email.utils.parsedate_to_datetime(stripped)
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None


def _moment(match: re.Match[str], year: str, month: str, day: str) -> datetime.datetime | None:
    hour = int(match["hour"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match["half"] in "Pp")
    whole_year = int(year) + (0 if len(year) == 4 else 2000 if int(year) < _EPOCH_OF_TWO_DIGITS else 1900)
    micros = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    try:
        clock = (hour, int(match["minute"] or 0), int(match["second"] or 0), micros)
        return datetime.datetime(whole_year, int(month), int(day), *clock, tzinfo=_zone(match["zone"])).astimezone(
            datetime.UTC
        )
    except (ValueError, OverflowError):
        return None


def _zone(zone: str | None) -> datetime.timezone:
    if zone is None or zone[0] not in "+-":
        return datetime.UTC
    minutes = 60 * int(zone[1:3]) + int(zone[-2:])
    return datetime.timezone(datetime.timedelta(minutes=-minutes if zone[0] == "-" else minutes))


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
