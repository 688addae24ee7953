"""Phone numbers in a text, and the dates, amounts and codes that have the same form.

matching copy -> PHONES: patterns, each with the check of its matches
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from pipelines.privacy.matching import NO_DECIMALS, WORD, Kind, whole_if

_DIGITS: Final = range(9, 13)
"""Numbers of digits of a national number, prefixes included."""

_DATE: Final = re.compile(
    r"(?:19|20)\d\d[-/. ]\d{1,2}[-/. ]\d{1,2}(?!\d)|\d{1,2}[-/. ]\d{1,2}[-/. ](?:19|20)\d\d(?!\d)"
)
_COMPACT_DATE: Final = re.compile(r"\D(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
_ZIP_CODES: Final = re.compile(r"0\d{4}[ -]0\d{4}")
_MONTH: Final = r"(?:0?[1-9]|1[0-2])[-/.](?:19|20)\d\d"
_SPAN: Final = re.compile(
    rf"{_MONTH}|(?:1\d|20)\d\d[-/](?:\d\d|(?:1\d|20)\d\d)|\d{{1,3}}[-/]\d{{1,3}}|\d{{1,5}}\.\d{{1,2}}"
)
"""A month, years such as 2019-20, a range or score such as 102-98, or a price: two numbers that belong together."""

_TURKISH_MOBILE: Final = r"5(?:0[1-7]|16|[3-5]\d|6[01]) \d{3} "
"""Operator of a mobile number of Turkey and the first three digits behind it."""

_PLAIN_FORM: Final = re.compile(
    rf"{_TURKISH_MOBILE}\d\d \d\d"
    r"|\d{3} \d{3} \d{4}|1 [2-9]\d\d [2-9]\d\d \d{4}|1[3-9]\d(?! (?:19|20)\d\d (?:19|20)\d\d$) \d{4} \d{4}"
    r"|1[38]00 (?!000)\d{3} \d{3}"
)
"""Numbers of North America, mobile ones of Turkey and China, and toll-free ones of Australia, with nothing but spaces.

Numbers of other countries that begin with no 0 look like quantities then.
"""

_TIMES: Final = re.compile(r"(?:(?:[01]\d|2[0-3])[0-5][05]\D?){3}")
_DOTTED: Final = re.compile(r"[1-9]\d{3}\.\d\d\.\d\d\.?\d\d|(?:(?:1?\d?\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}")
"""A number of a customs tariff, or an IP address that names nobody."""

_MOST_OF_LOTTERY: Final = 50
"""Largest number of a list that begins with 0, as of a lottery; one French phone number in 400 looks like such a list
(decision 56)."""

_NO_CODE: Final = "".join(
    rf"(?<!\b{word} )" for word in ("ean", "gtin", "hs code", "hts", "hts code", "isbn", "issn", "ndc", "sku", "upc")
)
_BEFORE: Final = rf"(?<![{WORD}-]){NO_DECIMALS}(?<!\d )(?<!\d:(?!\(?0[1-9]\d)){_NO_CODE}"
_AFTER: Final = rf"(?![{WORD}/-]|[.:]\d)"

_INTERNATIONAL = (
    rf"(?<![{WORD}+]){NO_DECIMALS}(?:\+\(?|(?<!\d ){_NO_CODE}00)[1-9](?:(?:[ ().\-/]{{0,2}}| [\-/] )\d){{7,13}}"
    rf"(?![{WORD}])"
)

_RUSSIAN = rf"{_BEFORE}8(?:[ -]?\(\d{{3,5}}\)[ -]?|[ -][3489]\d\d[ -])\d{{1,3}}[ -]?\d\d[ -]?\d\d{_AFTER}"
"""A number of Russia or Kazakhstan with the trunk prefix 8; area codes begin with 3, 4, 8 or 9."""

_AREA = r"0[1-9]\d{1,4}(?: [/-] |[ /-])"
"""An area with its trunk prefix 0, behind which a last digit after a hyphen is an extension; elsewhere it is a code."""

_TURKISH_TRUNK = rf"0 ?(?=\([1-9])|0 (?=(?:[1-9]\d\d \d{{3}} \d\d \d\d|{_TURKISH_MOBILE}\d{{4}})(?! ?\d))"
"""The trunk prefix 0 apart from its area, as it is written in Turkey; four digits last only in mobile numbers."""

_NATIONAL = (
    rf"{_BEFORE}(?:1[ .-]?|{_TURKISH_TRUNK})?(?:({_AREA})|\(\d{{2,5}}\)[ .\-/]{{0,2}}|\d{{2,5}}[ .\-/]{{1,2}})"
    rf"\d{{2,7}}(?:[ .-]\d{{2,5}}){{1,3}}(?(1)(?:-\d)?){_AFTER}"
)

_TRUNK = (
    rf"{_BEFORE}(?<![,+/])(?:\(0[1-9]\d{{0,4}}\)(?: ?[/-])? ?|0[1-9]\d{{0,4}} ?[ /-] ?)"
    rf"[1-9]\d{{4,7}}(?:-\d)?{_AFTER}(?!,\d)"
)
"""A national number in two groups: area with its trunk prefix 0, and a subscriber's number, which begins with no 0.

Five digits at least follow: `02134-1234` is a ZIP code, and two ZIP codes often begin with 0 both.
"""

_JAPANESE = rf"{_BEFORE}0[1-9]\d{{0,3}} ?\(\d{{1,4}}\) ?\d{{4}}{_AFTER}"
"""A number of Japan with its exchange in brackets, as in 03(1234)5678."""


def _is_international(match: str) -> bool:
    """Return whether a number is none of two ZIP codes, times or binary digits."""
    return not (_ZIP_CODES.fullmatch(match) or _TIMES.fullmatch(match) or _is_binary(match))


def _is_national(match: str) -> bool:
    """Return whether groups are none of binary, a date, thousands, years, a code, or like those of a card."""
    groups = re.findall(r"\d+", match)
    if match.startswith("00"):
        return match[2] != "0" and _is_international(match)  # no country code begins with 0
    if sum(map(len, groups)) not in _DIGITS or _is_binary(match):
        return False
    return not (_are_quantities(match, groups) or _is_list(groups) or _DATE.match(match) or _DOTTED.fullmatch(match))


def _are_quantities(match: str, groups: list[str]) -> bool:
    """Return whether groups are thousands, years, times, prices or plain numbers."""
    if _PLAIN_FORM.fullmatch(match):
        return _are_spans(match)
    thousands = all(len(group) == 3 for group in groups[1:]) and not re.match(r"[0(]|1[38]00\D", match)
    fours = all(len(group) == 4 for group in groups)  # years, times, and cards whose digits are wrong
    plain = set(match) <= set("0123456789 ") and match[0] != "0"
    return (
        thousands or (fours and (match[0] != "0" or _TIMES.fullmatch(match) is not None)) or plain or _are_spans(match)
    )


def _is_list(groups: list[str]) -> bool:
    """Return whether numbers of two digits ascend or descend, as those of repetitions or of a lottery do."""
    numbers = [int(group) for group in groups]
    ordered = {first < second for first, second in itertools.pairwise(numbers) if first != second}
    is_list = {*map(len, groups)} == {2} and len({*numbers}) == len(numbers) and len(ordered) == 1
    return is_list and (groups[0][0] != "0" or max(numbers) <= _MOST_OF_LOTTERY)


def _are_spans(match: str) -> bool:
    """Return whether words of digits are months, years, ranges, scores or prices, at most half of them one number."""
    words = match.split()
    spans = sum(_SPAN.fullmatch(word) is not None for word in words)
    numbers = sum(word.isdecimal() and len(word) <= len("2019") for word in words)
    begins = match[0] not in "0(" or re.match(_MONTH, match)  # a national number often begins with 0
    return bool(len(words) > 1 and begins and spans + numbers == len(words) and spans >= numbers)


def _is_trunk(match: str) -> bool:
    """Return whether two groups of digits are not binary and do not end in a date such as 20240131."""
    return _count_digits(match) in _DIGITS and not _is_binary(match) and not _COMPACT_DATE.search(match)


def _count_digits(match: str) -> int:
    return sum(map(str.isdecimal, match))


def _is_binary(match: str) -> bool:
    return re.search("[2-9]", match) is None


PHONES: Final = (
    Kind("phone", re.compile(_INTERNATIONAL, re.I), whole_if(_is_international)),
    Kind("phone", re.compile(_RUSSIAN, re.I), whole_if(lambda match: _count_digits(match) == len("84951234567"))),
    Kind("phone", re.compile(_NATIONAL, re.I), whole_if(_is_national)),
    Kind("phone", re.compile(_TRUNK, re.I), whole_if(_is_trunk)),
    Kind("phone", re.compile(_JAPANESE, re.I), whole_if(lambda match: _count_digits(match) in (10, 11))),
)
"""Kinds of phone numbers, in the order in which they are replaced."""
