"""Patterns of personal data in a text.

text -> replace_personal -> text with placeholders, and the kinds that were found

No light, maintained library finds all of these kinds: those that do need language models or the country of every text.
So each kind has a pattern here, and a check where the kind has one (Luhn, ISO 13616, addresses).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Final, NamedTuple

FEWEST_DIGITS: Final = 9
"""Digits of the shortest run that counts as an account or customer number; dates and years have fewer."""

CANDIDATE: Final = r"@|://|\p{Nd}(?:[ ().\-/]{0,3}\p{Nd}){6}|\p{Nd}\.\p{Nd}{1,3}\.\p{Nd}|[[:xdigit:]]:[[:xdigit:]:]*:"
"""A text without a match of this (RE2) has no personal data of any kind; most texts are excluded by it."""

_DATE: Final = re.compile(
    r"(?:19|20)\d\d[-/. ]\d{1,2}[-/. ]\d{1,2}(?!\d)|\d{1,2}[-/. ]\d{1,2}[-/. ](?:19|20)\d\d(?!\d)"
)
_COMPACT_DATE: Final = re.compile(r"\D(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
_ZIP_CODES: Final = re.compile(r"0\d{4}[ -]0\d{4}", re.A)
_MONTH: Final = r"(?:0?[1-9]|1[0-2])[-/.](?:19|20)\d\d"
_SPAN: Final = re.compile(
    rf"{_MONTH}|(?:1\d|20)\d\d[-/](?:\d\d|(?:1\d|20)\d\d)|\d{{1,3}}[-/]\d{{1,3}}|\d{{1,5}}\.\d{{1,2}}", re.A
)
"""A month, years such as 2019-20, a range or score such as 102-98, or a price: two numbers that belong together."""

_CARD_DIGITS: Final = range(13, 20)
_PHONE_DIGITS: Final = range(9, 13)


class Kind(NamedTuple):
    """A kind of personal data.

    Attributes:
        name: of the placeholder.
        pattern: matches texts that may be of this kind.
        replace: returns the replacement of a match, or the match as it is.
    """

    name: str
    pattern: re.Pattern[str]
    replace: Callable[[str, str], str]


def replace_personal(text: str) -> tuple[str, list[str]]:
    """Replace personal data by placeholders such as ``[email]``; return the text and the kind of each replacement.

    >>> replace_personal("mail me at jo@example.org, card 4111 1111 1111 1111")
    ('mail me at [email], card [card]', ['email', 'card'])
    """
    found: list[str] = []
    for kind in KINDS:
        placeholder = f"[{kind.name}]"

        def replaced(match: re.Match[str], kind: Kind = kind, placeholder: str = placeholder) -> str:
            changed = kind.replace(match[0], placeholder)
            if changed != match[0]:
                found.append(kind.name)
            return changed

        text = kind.pattern.sub(replaced, text)
    return text, found


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdecimal()]


def _always(match: str, placeholder: str) -> str:  # noqa: ARG001
    return placeholder


def _iban(match: str, placeholder: str) -> str:
    """Return the placeholder for the longest part, up to a space, whose check digits are right (ISO 13616)."""
    ends = [len(match), *(place for place in range(len(match) - 1, 0, -1) if match[place] == " ")]
    for end in ends:
        compact = match[:end].replace(" ", "").upper()
        if 15 <= len(compact) <= 34 and int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1:
            return placeholder + match[end:]
    return match


def _card(match: str, placeholder: str) -> str:
    """Return the placeholder for a number of 13 to 19 digits with a right last digit (Luhn, ISO/IEC 7812-1)."""
    digits = _digits(match)
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    right = (sum(doubled) + sum(digits[::-2])) % 10 == 0
    return placeholder if len(digits) in _CARD_DIGITS and digits[0] in range(2, 7) and right else match


def _ip4(match: str, placeholder: str) -> str:
    """Return the placeholder for an address, but not where a word such as "section" or "version" precedes it."""
    return _ip(match, placeholder) if match[0].isdecimal() else match


def _ip(match: str, placeholder: str) -> str:
    """Return the placeholder for an address, but not for a version such as 1.9.2.1 or a name in code such as a::b."""
    groups = [group for group in re.split("[.:]", match) if group]
    if len(groups) < 3 or max(map(len, groups)) < 2 or not _digits(match):
        return match
    try:
        ipaddress.ip_address(match)
    except ValueError:
        return match
    return placeholder


def _phone(match: str, placeholder: str) -> str:
    """Return the placeholder unless the groups are binary, a date, thousands, years or like those of a card."""
    groups = re.findall(r"\d+", match)
    if match[0] == "+" or match.startswith("00"):
        return match if _ZIP_CODES.fullmatch(match) or max(_digits(match)) <= 1 else placeholder
    thousands = all(len(group) == 3 for group in groups[1:]) and match[0] not in "0("
    fours = len(groups) > 1 and all(len(group) == 4 for group in groups)  # years, and cards whose digits are wrong
    plain = set(match) <= set("0123456789 ") and match[0] != "0" and [*map(len, groups)] != [3, 3, 4]
    dates = _DATE.match(match) or _are_spans(match)
    spared = thousands or fours or plain or dates or len(_digits(match)) not in _PHONE_DIGITS
    return match if spared else placeholder


def _are_spans(match: str) -> bool:
    """Return whether words of digits are months, years, ranges, scores or prices, at most half of them one number."""
    words = match.split()
    spans = sum(_SPAN.fullmatch(word) is not None for word in words)
    numbers = sum(word.isdecimal() and len(word) <= len("2019") for word in words)
    begins = match[0] not in "0(" or re.match(_MONTH, match)  # a national number often begins with 0
    return bool(len(words) > 1 and begins and spans + numbers == len(words) and spans >= numbers)


def _trunk(match: str, placeholder: str) -> str:
    """Return the placeholder for two groups of digits, unless they are binary or end in a date such as 20240131."""
    digits = _digits(match)
    spared = len(digits) not in _PHONE_DIGITS or max(digits) <= 1 or _COMPACT_DATE.search(match)
    return match if spared else placeholder


_CREDENTIAL = (
    r"(?:[a-z0-9]{1,20}[-_.]){0,3}(?:(?:access|auth|bearer|id|refresh|session)?token|(?:access|app|client)?secret"
    r"|auth(?:orization)?|credentials?|jwt|otp|pass(?:code|phrase|wd|word)?|pwd?|sig(?:nature)?)"
    r"|(?:(?:access|account|api|auth|aws|private|secret)[-_.]?){0,2}key(?:[-_]?id)?|(?:j|php)?sess(?:ion)?(?:[-_]?id)?|sid"
)

_TRUNK = r"(?<![\w.,:+/-])(?<!\d )(?:\(0[1-9]\d{0,4}\) ?|0[1-9]\d{0,4} ?[ /-] ?)[1-9]\d{4,7}(?![\w/-]|[.,:]\d)"
"""A national number in two groups: area with its trunk prefix 0, and a subscriber's number, which begins with no 0.

Five digits at least follow: `02134-1234` is a ZIP code, and two ZIP codes often begin with 0 both.
"""

_NATIONAL = (
    r"(?<![\w.:-])(?<!\d )(?:1[ .-])?(?:\(\d{2,5}\)|\d{2,5})[ .\-/]{1,2}\d{2,7}(?:[ .-]\d{2,5}){1,3}(?![\w/-]|[.:]\d)"
)

_IP4 = r"(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)"
_NUMBERED = (
    r"(?:(?:abschnitt|article|artikel|chapter|clause|figure|item|kapitel|paragraph|part|release|rule|sec|section|step"
    r"|table|version)s?[.:]?|§{1,2})\s{0,2}"
)
_NEXT = r"(?:, ?| ?[-\u2013] ?| and | or | to )"

_URL_REST = r"[^\s()<>\"']*[^\s()<>\"'.,;:!?]"

KINDS: Final = (
    Kind(
        "url",
        re.compile(
            rf"\b[a-z][a-z0-9+.-]{{0,20}}://(?:[^\s/@]{{1,200}}:[^\s/@]{{0,200}}@|\S{{0,500}}?[?&#](?:{_CREDENTIAL})=)"
            + _URL_REST,
            re.I,
        ),
        _always,
    ),
    Kind(
        "email",
        re.compile(r"(?<![\w.+%-])[\w.+%-]+(?:['\u2019][\w.+%-]+){0,3}@(?:[\w-]+\.)+[^\W\d_]{2,}(?![\w-])"),
        _always,
    ),
    Kind("iban", re.compile(r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?\b", re.I | re.A), _iban),
    Kind("card", re.compile(r"(?<![\w.+-])(?:\d[ -]?){12,18}\d(?![\w-])"), _card),
    Kind("card", re.compile(r"(?<![\w.+-])(?:(?:\d{4}\.){3}\d{1,7}|\d{4}\.\d{6}\.\d{5})(?![\w-]|\.\d)"), _card),
    Kind("ip", re.compile(rf"(?<![\w.])(?:{_NUMBERED}{_IP4}(?:{_NEXT}{_IP4}){{0,9}}|{_IP4})", re.A | re.I), _ip4),
    Kind("ip", re.compile(r"(?<![\w:.])[0-9a-f]{1,4}:[0-9a-f:]*:[0-9a-f]{0,4}(?![\w:])", re.I | re.A), _ip),
    Kind("phone", re.compile(r"(?<![\w.+])(?:\+|(?<!\d )00)[1-9](?:[ ().\-/]{0,2}\d){7,13}(?!\w)"), _phone),
    Kind("phone", re.compile(_NATIONAL), _phone),
    Kind("phone", re.compile(_TRUNK), _trunk),
    Kind("number", re.compile(r"(?<![\w.,+-])\d{" + str(FEWEST_DIGITS) + r",}(?!\w|[.,]\d)"), _always),
)
"""All kinds, in the order in which they are replaced, since a part of one can match a later pattern."""
