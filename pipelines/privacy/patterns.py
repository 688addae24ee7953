"""Patterns of personal data in a text.

text -> replace_personal -> text with placeholders, and the kinds that were found

No light, maintained library finds all of these kinds: those that do need language models or the country of every text.
So each kind has a pattern here, and a check where the kind has one (Luhn, ISO 13616, addresses).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Final

from pipelines.privacy.matching import NO_DECIMALS, WORD, Kind, MatchingCopy, Span, whole_if
from pipelines.privacy.phone_numbers import PHONES
from pipelines.privacy.spoken_numbers import CANDIDATE as SPOKEN_CANDIDATE
from pipelines.privacy.spoken_numbers import SPOKEN

FEWEST_DIGITS: Final = 9
"""Digits of the shortest run that counts as an account or customer number; dates and years have fewer."""

_SEPARATORS = (
    r"\s\v\x1c-\x1f\x{85}\p{Z}\p{Cf}\p{Pd}().\-/+\x{207a}\x{207b}\x{207d}\x{207e}\x{208a}\x{208b}\x{208d}\x{208e}"
    r"\x{2024}\x{2212}\x{30fc}\x{ff70}\x{fb29}\x{fe35}\x{fe36}\x{fe52}\x{fe59}\x{fe5a}\x{fe62}\x{ff08}\x{ff09}\x{ff0b}\x{ff0e}\x{ff0f}"
)
_DOTS = r"[.\x{2024}\x{fe52}\x{ff0e}]\p{Cf}*"
_COLON = r"[:\x{fe13}\x{fe55}\x{ff1a}]"

CANDIDATE: Final = (
    rf"[@\x{{fe6b}}\x{{ff20}}]|[%\x{{fe6a}}\x{{ff05}}]\p{{Cf}}*\p{{N}}\p{{Cf}}*\p{{N}}|{_COLON}\p{{Cf}}*[/\x{{ff0f}}]\p{{Cf}}*[/\x{{ff0f}}]|\p{{N}}(?:[{_SEPARATORS}]*\p{{N}}){{6}}"
    rf"|\p{{N}}\p{{Cf}}*{_DOTS}(?:\p{{N}}\p{{Cf}}*){{1,3}}{_DOTS}\p{{N}}"
    rf"|(?:[[:xdigit:]]|[^\x00-\x7f]){_COLON}(?:[[:xdigit:]:]|[^\x00-\x7f])*{_COLON}|{SPOKEN_CANDIDATE}"
)
"""A text without a match of this (RE2) has no personal data of any kind; most texts are excluded by it."""


def replace_personal(text: str) -> tuple[str, list[str]]:
    """Replace personal data by placeholders such as ``[email]``; return the text and the kind of each replacement.

    >>> replace_personal("mail me at jo@example.org, card 4111 1111 1111 1111")
    ('mail me at [email], card [card]', ['email', 'card'])
    """
    copy = MatchingCopy(text)
    kinds = [kind.name for kind in KINDS for _ in range(copy.replace(kind))]
    return copy.text, kinds


def _iban(match: str) -> Sequence[Span]:
    """Return the longest part, up to a space or hyphen, whose check digits are right (ISO 13616)."""
    ends = [len(match), *(place for place in range(len(match) - 1, 0, -1) if not match[place].isalnum())]
    for end in ends:
        compact = "".join(filter(str.isalnum, match[:end])).upper()
        # 15 characters in Norway, 34 at most; with the country at the end, the number modulo 97 has to be 1
        if 15 <= len(compact) <= 34 and int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1:
            return [(0, end)]
    return []


_CARD_DIGITS: Final = range(13, 20)
_ISSUER: Final = re.compile(r"2[2-7]|3[04-9]|[456]")
"""First digits of card numbers: 2 and 5 of Mastercard, 3 of American Express, Diners Club and JCB, 4 of Visa, 6 of
Discover, Maestro and UnionPay."""

_CARD_LAYOUTS: Final = (
    re.compile(r"\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?!\d)"),
    re.compile(r"\d{4}([ -])\d{6}\1\d{4,5}(?!\d)"),
    re.compile(r"\d{13,19}(?!\d)"),
    re.compile(r"(?:\d{4}[ -]){3}(?:\d{1,3}|\d{4}[ -]\d{3})(?!\d)"),
    re.compile(r"(?:\d{2,}[ -])*\d+[ -]?\d+$|(?:\d[ -])+\d$"),
)
"""Groups of a card number, the usual ones first; the last layout, all groups up to the end, is for other groups."""


def _cards(match: str) -> Sequence[Span]:
    """Return the card numbers among groups of digits; numbers beside one, such as its date and code, stay."""
    spans: list[Span] = []
    end = 0
    for group in re.finditer(r"(?<!\d)\d", match):
        start = group.start()
        if start >= end and (card := _card_at(match, start)):
            end = card
            spans.append((start, end))
    return spans


def _card_at(match: str, start: int) -> int | None:
    """Return the end of the card number that begins at a group, None if none does."""
    layouts = _CARD_LAYOUTS if start == 0 else _CARD_LAYOUTS[:-1]
    numbers = (layout.match(match, start) for layout in layouts)
    return next((number.end() for number in numbers if number and _is_card(number[0])), None)


def _is_card(text: str) -> bool:
    """Return whether a text has 13 to 19 digits, an issuer's first ones, and a right last one (ISO/IEC 7812-1)."""
    digits = [int(character) for character in text if character.isdecimal()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    is_right = (sum(doubled) + sum(digits[::-2])) % 10 == 0
    return is_right and len(digits) in _CARD_DIGITS and _ISSUER.match(text) is not None


_DOCUMENTATION: Final = ipaddress.ip_network("2001:db8::/32")


def _is_ip4(match: str) -> bool:
    """Return whether a match is an address of somebody; where a word such as "section" precedes it, it is none."""
    return match[0].isdecimal() and _is_ip(match)


def _is_ip(match: str) -> bool:
    """Return whether a match is the address of somebody, not a version such as 1.9.2.1 or a name such as a::b."""
    groups = [group for group in re.split("[.:]", match) if group]
    if len(groups) < 3 or max(map(len, groups)) < 2 or not any(map(str.isdecimal, match)):
        return False
    try:
        address = ipaddress.ip_address(match)
    except ValueError:
        return False
    return not _names_nobody(address)


def _ip6(match: str) -> Sequence[Span]:
    """Return the address in a match, which the colon of a clause can follow."""
    return next(([(0, len(address))] for address in (match, match.removesuffix(":")) if _is_ip(address)), [])


def _names_nobody(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether many machines have an address, or none.

    Private, shared, local, multicast and reserved ones, netmasks, and versions and networks that end in ``.0.0``. An
    address of version 6 within a network can have the number of a device, so only those are spared that have none.
    """
    if address.is_loopback or address.is_multicast or address.is_unspecified:
        return True
    if isinstance(address, ipaddress.IPv6Address):
        return address in _DOCUMENTATION
    return not address.is_global or address.is_reserved or int(address) % (1 << 16) == 0


def _groups(separator: str) -> str:
    """Return the pattern of the groups of an IBAN behind its first one."""
    return rf"(?:{separator}[a-z0-9]{{4}}){{2,7}}(?:{separator}[a-z0-9]{{1,3}})?"


_HYPHEN = "[-\u2013\u2014]"
"""A hyphen between groups: without it groups of other lengths, such as those of a UUID, are none of an IBAN."""

_CREDENTIAL = (
    r"(?:[a-z0-9]{1,20}[-_.]){0,3}(?:(?:access|auth|bearer|id|refresh|session)?token|(?:access|app|client)?secret"
    r"|auth(?:orization)?|credentials?|jwt|otp|pass(?:code|phrase|wd|word)?|pwd?|sig(?:nature)?)"
    r"|(?:(?:access|account|api|auth|aws|private|secret)[-_.]?){0,2}key(?:[-_]?id)?|(?:j|php)?sess(?:ion)?(?:[-_]?id)?|sid"
)

_MARKS = r"\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e01-\u0e4e\u0e50-\u109f\u3099\u309a"
"""Marks of Indian, South East Asian and Japanese letters, and letters beside them.

Python counts no mark as a part of a word.
"""

_OTHER = rf"(?:(?![{WORD}])[\w{_MARKS}])"
"""A letter of another script than those of `WORD`, or one of its marks."""

_LATIN_LOCAL = rf"(?<![{WORD}.+%-])[{WORD}.+%-]+(?:['\u2019][{WORD}.+%-]+){{0,3}}"
_OTHER_LOCAL = rf"(?<![\w{_MARKS}.+%-])[\w{_MARKS}.+%-]+(?<![{WORD}.+%-])"
_DOMAIN = rf"(?:(?:[{WORD}-]+|{_OTHER}(?:{_OTHER}|-)*)\.)+"
_TOP = rf"(?:(?:xn--[a-z0-9-]+|(?:(?![\d_])[{WORD}]){{2,}})(?![{WORD}-])|{_OTHER}{{2,}})"
"""Parts of an address. In scripts without spaces the next word touches it, so each part has one script."""

_IP4 = r"(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)"
_NUMBERED = (
    r"(?:(?:abschnitt|article|artikel|chapter|clause|figure|item|kapitel|paragraph|part|release|rule|sec|section|step"
    r"|table|version)s?[.:]?|§{1,2})\s{0,2}"
)
_NO_GROUP = "(?<!::)" + "".join(rf"(?<!(?<!\w)[0-9a-f]{{{digits}}}:)" for digits in range(1, 5))
"""No group of an IP address precedes, but a word with a colon can."""

_NEXT = r"(?:, ?| ?[-\u2013] ?| and | or | to )"

_SECRET = rf"[?&#](?:{_CREDENTIAL})=[^\s\"'\u2018-\u201f&]*+"
"""A credential with its name: its value can have letters of any script and other signs, and is often a password."""

# no possessive group, which matches wrongly before Python 3.11.5
_URL_REST = rf"(?:{_SECRET}|(?!{_OTHER})[^\s()<>\"'\u2018-\u201f\u3000-\u303f\uff00-\uff0f\uff1a-\uff1f])*"
_AFTER_URL: Final = ".,;:!?()<>[]{}\u3001\u3002\u300a\u300b\u300c\u300d\u300e\u300f\u3010\u3011\uff01\uff0c\uff1b"
"""Signs of the sentence, which stay at the end of a URL."""

_COUNTED = "(?! ?[人円元圆圓万亿億个個名명원])"
"""Units that follow a quantity in Chinese, Japanese and Korean."""

KINDS: Final = (
    Kind(
        "url",
        re.compile(
            rf"(?<![{WORD}])[a-z][a-z0-9+.-]{{0,20}}://(?:[^\s/@]{{0,200}}:[^\s/@]{{0,200}}@(?:{_OTHER}+[.-])*{_OTHER}*"
            rf"|\S{{0,500}}?{_SECRET}){_URL_REST}",
            re.I,
        ),
        lambda match: [(0, len(match.rstrip(_AFTER_URL)))],
        sign="://",
    ),
    *(
        Kind("email", re.compile(rf"(?:{_LATIN_LOCAL}|{_OTHER_LOCAL}){at}{_DOMAIN}{_TOP}"), whole_if(bool), sign=at)
        for at in ("@", "%40")  # the second one in a parameter of a URL
    ),
    Kind("iban", re.compile(rf"\b[a-z]{{2}}\d{{2}}(?:{_groups(' ?')}|{_groups(_HYPHEN)})\b", re.I | re.A), _iban),
    Kind("card", re.compile(rf"(?<![{WORD}.+-])\d(?:[ -]?\d){{12,}}(?![{WORD}-])"), _cards),
    Kind(
        "card",
        re.compile(rf"(?<![{WORD}.+-])(?:(?:\d{{4}}\.){{3}}\d{{1,7}}|\d{{4}}\.\d{{6}}\.\d{{5}})(?![{WORD}-]|\.\d)"),
        whole_if(_is_card),
    ),
    Kind(
        "ip",
        re.compile(rf"(?<![\w.])(?:{_NUMBERED}{_IP4}(?:{_NEXT}{_IP4}){{0,9}}|{_IP4})", re.A | re.I),
        whole_if(_is_ip4),
    ),
    Kind(
        "ip",
        re.compile(rf"(?<![\w.]){_NO_GROUP}[0-9a-f]{{1,4}}:[0-9a-f:]*:[0-9a-f]{{0,4}}(?![\w:])", re.I | re.A),
        _ip6,
    ),
    *PHONES,
    SPOKEN,
    Kind(
        "number",
        re.compile(rf"(?<![{WORD},+-]){NO_DECIMALS}\d{{{FEWEST_DIGITS},}}{_COUNTED}(?![{WORD}]|[.,]\d)"),
        whole_if(bool),
    ),
)
"""All kinds, in the order in which they are replaced, since a part of one can match a later pattern."""
