"""Precision and recall of the replacement of personal data, on generated texts with near misses.

Run: python -m benchmarks.privacy.personal_data

Each kind is written in several formats with random digits and letters, and put into sentences. A form is a kind in
a particular writing: with other spaces, dashes or invisible characters, beside other numbers, in a script without
spaces. A near miss has the form of a kind but is none: wrong check digits, versions, dates, amounts, book numbers, user
names. Recall is the share of the personal data that is replaced as a whole, with no other character; precision the
share of all replacements, those of near misses too, that replace personal data of the kind.
"""

from __future__ import annotations

import ipaddress
import itertools
import random
import re
import string
import uuid
from collections.abc import Callable

from benchmarks.cli import AsJson, Report, Seed, run
from pipelines.privacy.patterns import replace_personal

SENTENCES = (
    "is {} right?",
    "please send it to {}, thanks",
    "my number {} does not work",
    "{}",
    "why ({})",
    "it was {}.",
)
Draw = Callable[[random.Random], str]
Form = tuple[str, Callable[[random.Random], tuple[str, str]]]
"""Kind, and a function that draws a text and the same text with its placeholder."""

SPACES = "\u00a0\u2007\u2009\u202f\u3000"
HYPHENS = "\u2010\u2011\u2012\u2013\uff0d"
INVISIBLE = "\u00ad\u200b\u200c\u2060\ufeff"
UNSPACED = (
    ("我的{}为什么收不到验证码", "请问怎么把{}改掉"),
    ("これは{}です", "番号を{}から変更したい"),
    ("제 번호가 {}인데 왜 안 되나요", "{}으로 보내 주세요"),
    ("मेरा {}है", "ส่งไปที่{}ได้ไหม"),
)


def main(seed: Seed = 0, texts: int = 500, *, as_json: AsJson = False) -> None:
    """Measure every kind and every near miss."""
    report, draw = Report(as_json=as_json, texts_of_each=texts, seed=seed), random.Random(seed)
    replaced_wrongly: dict[str, int] = {}
    for name, near in NEAR.items():
        found = [replace_personal(draw.choice(SENTENCES).format(near(draw)))[1] for _ in range(texts)]
        replaced_wrongly |= {
            kind: replaced_wrongly.get(kind, 0) + sum(kind in f for f in found) for f in found for kind in f
        }
        report.row(near_miss=name, replaced=sum(map(bool, found)) / texts)
    for kind, drawn in PERSONAL.items():
        whole = 0
        for _ in range(texts):
            sentence = draw.choice(SENTENCES)
            whole += replace_personal(sentence.format(drawn(draw)))[0] == sentence.format(f"[{kind}]")
        report.row(kind=kind, recall=whole / texts, precision=whole / max(1, whole + replaced_wrongly.get(kind, 0)))
    for form, (kind, write) in FORMS.items():
        whole = 0
        for _ in range(texts):
            text, left = write(draw)
            whole += replace_personal(text)[0] == left
        report.row(form=form, kind=kind, recall=whole / texts)


def _digits(draw: random.Random, count: int) -> str:
    return "".join(draw.choices(string.digits, k=count))


def _groups(draw: random.Random, text: str, sizes: list[int], separators: str = " -") -> str:
    parts, start = [], 0
    for size in sizes:
        parts.append(text[start : start + size])
        start += size
    return draw.choice(separators).join(parts)


def _ascending(draw: random.Random, low: int, high: int, count: int) -> list[int]:
    return sorted(draw.sample(range(low, high), count))


def _name(draw: random.Random) -> str:
    return "".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 9)))


def _email(draw: random.Random) -> str:
    local = draw.choice([".", "_", "-", "+", "", "'"]).join(_name(draw) for _ in range(draw.randint(1, 2)))
    host = f"{_name(draw)}.{draw.choice(['com', 'org', 'co.uk', 'info', 'de'])}"
    return f"{local}{draw.choice(['', _digits(draw, 2)])}@{host}"


def _luhn(draw: random.Random, *, right: bool) -> str:
    first = draw.choice(["4", "51", "34", "6011", "2221"]) + _digits(draw, 11)
    first = first[:15]
    total = sum(int(d) if n % 2 else sum(divmod(2 * int(d), 10)) for n, d in enumerate(reversed(first)))
    last = -total % 10
    number = first + str(last if right else (last + draw.randint(1, 9)) % 10)
    return draw.choice([number, _groups(draw, number, [4, 4, 4, 4], " -.")])


def _iban(draw: random.Random, *, right: bool) -> str:
    country, length = draw.choice([("DE", 18), ("NL", 14), ("GB", 18), ("FR", 23), ("NO", 11)])
    letters = country in {"NL", "GB"}
    account = ("".join(draw.choices(string.ascii_uppercase, k=4)) if letters else "") + _digits(
        draw, length - 4 * letters
    )
    number = int("".join(str(int(c, 36)) for c in f"{account}{country}00"))
    check = 98 - number % 97
    whole = f"{country}{check if right else (check + 7) % 90 + 2:02d}{account}"
    return draw.choice([whole, whole.lower(), " ".join(whole[i : i + 4] for i in range(0, len(whole), 4))])


def _phone(draw: random.Random) -> str:
    country = draw.choice(["+", "00"]) + draw.choice(["1", "44", "49", "91", "353"])
    area, rest = str(draw.randint(20, 999)), _digits(draw, 7)
    formats = [
        f"{country} {area} {rest}", f"{country}{area}{rest}", f"{country} ({area}) {rest[:3]}-{rest[3:]}",
        f"{draw.randint(200, 999)}-{rest[:3]}-{rest[3:]}", f"({draw.randint(200, 999)}) {rest[:3]}-{rest[3:]}",
        f"1-800-{rest[:3]}-{rest[3:]}", f"0{draw.randint(20, 999)} {rest[:3]} {rest[3:]}",
        " ".join(["06", *(_digits(draw, 2) for _ in range(4))]),
    ]  # fmt: skip
    return draw.choice([*formats, *_two_groups(draw)])


def _two_groups(draw: random.Random) -> list[str]:
    """Return numbers of an area with its trunk prefix and a subscriber, as in Germany and the United Kingdom."""
    area, mobile = f"0{draw.randint(20, 999)}", f"0{draw.randint(7100, 7999)}"
    rest = f"{draw.randint(1, 9)}{_digits(draw, draw.choice([5, 6]))}"
    return [
        f"{area} {rest}", f"{area}/{rest}", f"{area}-{rest}", f"{area} / {rest}", f"({area}) {rest}",
        f"{mobile} {draw.randint(1, 9)}{_digits(draw, 5)}", f"0800 {draw.randint(1, 9)}{_digits(draw, 5)}",
    ]  # fmt: skip


def _ip(draw: random.Random) -> str:
    public = (ipaddress.IPv4Address(draw.getrandbits(32)) for _ in itertools.count())
    v4 = next(str(one) for one in public if one.is_global and not one.is_multicast and min(one.packed) >= 10)
    v6 = ":".join(f"{number:x}" for number in (draw.randint(0x2400, 0x2FFF), *draw.choices(range(1, 65_536), k=7)))
    return draw.choice([v4, v6, "2001:4860::" + v6[-9:].strip(":")])


def _url(draw: random.Random) -> str:
    secret = draw.choice(["token", "api_key", "password", "access_token", "sig", "pwd", "X-Amz-Signature", "sid"])
    with_user = f"https://{_name(draw)}:{_name(draw)}@{_name(draw)}.org/{_name(draw)}"
    page, value = f"https://{_name(draw)}.com/{_name(draw)}", f"{secret}={_digits(draw, 8)}"
    return draw.choice([with_user, f"{page}?a=1&{value}", f"{page}?{value}", f"{page}#{value}"])


def _numbers(draw: random.Random, low: int, high: int) -> str:
    first = draw.randint(low, high - 1)
    return f"{first}-{draw.randint(first + 1, high)}"


def _more_phones(draw: random.Random) -> str:
    """Return a number in a form that begins with no 0 or +, or whose groups are of one length."""
    area, rest, mobile = draw.randint(201, 999), _digits(draw, 7), f"1{draw.randint(30, 99)}"
    russian = f"{draw.choice('3489')}{_digits(draw, 2)}"
    return draw.choice(
        [
            f"({area}){rest[:3]}-{rest[3:]}", f"8 ({russian}) {rest[:3]}-{rest[3:5]}-{rest[5:]}",
            f"8-{russian}-{rest[:3]}-{rest[3:5]}-{rest[5:]}", f"1 {area} {draw.randint(200, 999)} {rest[3:]}",
            f"{mobile} {draw.randint(2100, 9999)} {rest[3:]}", f"1{draw.choice('38')}00 {area} {rest[3:6]}",
            f"0{draw.randint(151, 179)} {draw.randint(2000, 9999)} {rest[3:]}",
        ]
    )  # fmt: skip


def _otherwise(draw: random.Random, text: str) -> str:
    """Return a text with other spaces, other hyphens, full-width digits and signs, or an invisible character."""
    place = draw.randint(1, len(text) - 1)
    written = {
        "spaces": text.replace(" ", draw.choice(SPACES)),
        "hyphens": text.replace("-", draw.choice(HYPHENS)),
        "wide": text.translate({code: code + 0xFEE0 for code in map(ord, "0123456789@.+")}),
        "invisible": text[:place] + draw.choice(INVISIBLE) + text[place:],
    }
    return draw.choice([other for other in written.values() if other != text])


def _in_other_characters(kind: str) -> Form:
    def write(draw: random.Random) -> tuple[str, str]:
        sentence = draw.choice(SENTENCES)
        return sentence.format(_otherwise(draw, PERSONAL[kind](draw))), sentence.format(f"[{kind}]")

    return kind, write


def _iban_with_hyphens(draw: random.Random) -> tuple[str, str]:
    whole = re.sub(" ", "", _iban(draw, right=True))
    sentence, hyphen = draw.choice(SENTENCES), draw.choice(f"-{HYPHENS}")
    return sentence.format(hyphen.join(re.findall(".{1,4}", whole))), sentence.format("[iban]")


def _without_spaces(kind: str, drawn: Draw) -> Form:
    def write(draw: random.Random) -> tuple[str, str]:
        sentence = draw.choice(draw.choice(UNSPACED))
        return sentence.format(drawn(draw)), sentence.format(f"[{kind}]")

    return kind, write


def _card_beside_numbers(draw: random.Random) -> tuple[str, str]:
    number = re.sub(r"\D", "", _luhn(draw, right=True))
    card = draw.choice([number, " ".join(number[place : place + 4] for place in range(0, 16, 4))])
    date = f"{draw.randint(1, 12):02d}/{draw.randint(25, 35)}"
    beside = ["{} " + date, "{} " + f"{date} {_digits(draw, 3)}", "{} " + _digits(draw, 3), "{} 2 times"]
    sentence = draw.choice([*beside, f"{draw.randint(2, 9)} {{}}"])
    return sentence.format(card), sentence.format("[card]")


PERSONAL: dict[str, Draw] = {
    "email": _email,
    "card": lambda draw: _luhn(draw, right=True),
    "iban": lambda draw: _iban(draw, right=True),
    "ip": _ip,
    "phone": _phone,
    "number": lambda draw: str(draw.randint(1, 9)) + _digits(draw, draw.choice([8, 9, 10, 11])),
    "url": _url,
}

FORMS: dict[str, Form] = {
    **{
        f"{kind}, other characters": _in_other_characters(kind) for kind in ("email", "card", "iban", "phone", "number")
    },
    "card beside numbers": ("card", _card_beside_numbers),
    **{f"{kind}, scripts without spaces": _without_spaces(kind, PERSONAL[kind]) for kind in PERSONAL if kind != "iban"},
    "IBAN in groups with hyphens": ("iban", _iban_with_hyphens),
    "phone, no 0 or + before it": ("phone", lambda draw: (f"is {(_more_phones(draw))} right?", "is [phone] right?")),
}

NEAR: dict[str, Draw] = {
    "card with a wrong digit, in groups": lambda draw: " ".join(
        (lambda n: [n[i : i + 4] for i in range(0, 16, 4)])(re.sub(r"\D", "", _luhn(draw, right=False)))
    ),
    "IBAN with wrong check digits, in letters": lambda draw: "GB" + _digits(draw, 2) + _name(draw),
    "version of a program": lambda draw: (
        f"v{draw.randint(1, 20)}.{draw.randint(0, 9)}.{draw.randint(0, 9)}.{draw.randint(1000, 9999)}"
    ),
    "date and time": lambda draw: (
        f"20{_digits(draw, 2)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)} 1{draw.randint(0, 9)}:30"
    ),
    "date": lambda draw: f"1{draw.randint(0, 9)}/0{draw.randint(1, 9)}/19{_digits(draw, 2)}",
    "amount": lambda draw: f"{draw.randint(1, 999)},{_digits(draw, 3)},{_digits(draw, 3)}.50",
    "amount with spaces": lambda draw: (
        f"{draw.randint(1, 999)} {_digits(draw, 3)} {_digits(draw, 3)} {_digits(draw, 3)}"
    ),
    "years": lambda draw: f"19{_digits(draw, 2)}-20{_digits(draw, 2)}",
    "number of up to 8 digits": lambda draw: _digits(draw, draw.randint(1, 8)),
    "decimal": lambda draw: f"0.{_digits(draw, 12)}",
    "ISBN": lambda draw: f"978-{draw.randint(0, 9)}-{_digits(draw, 2)}-{_digits(draw, 6)}-{draw.randint(0, 9)}",
    "user name": lambda draw: f"@{_name(draw)}",
    "URL without a secret": lambda draw: f"https://{_name(draw)}.org/{_name(draw)}?page={draw.randint(1, 99)}",
    "time": lambda draw: f"1{draw.randint(0, 9)}:{draw.randint(10, 59)}:{draw.randint(10, 59)}",
    "seasons": lambda draw: " ".join(f"{year}-{(year + 1) % 100:02d}" for year in _ascending(draw, 1850, 2025, 2)),
    "periods": lambda draw: " ".join(f"{year}-{year % 100 + 1:02d}" for year in _ascending(draw, 1801, 1898, 2)),
    "months": lambda draw: " ".join(f"{draw.randint(1, 12)}-{year}" for year in _ascending(draw, 1990, 2030, 2)),
    "ranges": lambda draw: f"{_numbers(draw, 10, 99)} {_numbers(draw, 10, 99)} {draw.randint(10, 99)}",
    "scores of three digits": lambda draw: " ".join(f"{draw.randint(70, 140)}-{draw.randint(70, 140)}" for _ in "12"),
    "prices": lambda draw: f"{draw.randint(100, 999)}.{_digits(draw, 2)} {draw.randint(100, 999)}.{_digits(draw, 2)}",
    "section": lambda draw: (
        draw.choice(["section ", "chapter ", "§", "clause "]) + ".".join(str(draw.randint(1, 20)) for _ in range(4))
    ),
    "two ZIP codes": lambda draw: f"0{_digits(draw, 4)} 0{_digits(draw, 4)}",
    "ZIP code of nine digits": lambda draw: f"0{_digits(draw, 4)}-{_digits(draw, 4)}",
    "hour and date": lambda draw: (
        f"0{draw.randint(1, 9)}30 20{draw.randint(10, 30)}0{draw.randint(1, 9)}1{draw.randint(0, 9)}"
    ),
    "binary": lambda draw: " ".join("".join(draw.choices("01", k=draw.choice([4, 6]))) for _ in "12"),
    "URL of a page": lambda draw: f"https://{_name(draw)}.org/{_name(draw)}#{_name(draw)}",
    "product number": lambda draw: f"{draw.randint(1000, 9999)}-{_digits(draw, 4)}",
    "address that names nobody": lambda draw: draw.choice(
        [
            f"192.168.{draw.randint(0, 255)}.{draw.randint(1, 254)}",
            f"127.0.0.{draw.randint(1, 9)}",
            f"10.{draw.randint(0, 255)}.{draw.randint(0, 255)}.{draw.randint(1, 254)}",
            "255.255.255.0",
            f"172.{draw.randint(16, 31)}.{draw.randint(0, 255)}.{draw.randint(1, 254)}",
            f"fe80::{draw.randint(1, 9)}",
        ]
    ),
    "version of a browser": lambda draw: f"chrome {draw.randint(60, 160)}.0.0.0",
    "tariff code": lambda draw: (
        f"{draw.choice(['hs code ', ''])}{draw.randint(1000, 9999)}.{_digits(draw, 2)}.{_digits(draw, 2)}.00"
    ),
    "drug code": lambda draw: f"ndc {_digits(draw, 4)}-{_digits(draw, 4)}-{_digits(draw, 2)}",
    "lottery": lambda draw: " ".join(f"{number:02d}" for number in _ascending(draw, 1, 50, 5)),
    "repetitions": lambda draw: "-".join(map(str, _ascending(draw, 10, 100, 5)[:: draw.choice([1, -1])])),
    "thousands": lambda draw: f"{draw.randint(1, 9)} {_digits(draw, 3)} {_digits(draw, 3)}",
    "years in a row": lambda draw: " ".join(map(str, _ascending(draw, 1950, 2030, draw.randint(3, 6)))),
    "small numbers": lambda draw: " ".join(map(str, range(draw.randint(1, 6), draw.randint(8, 20)))),
    "times": lambda draw: " ".join(f"{draw.randint(0, 23):02d}{draw.choice(['00', '15', '30', '45'])}" for _ in "123"),
    "amount in Chinese, Japanese or Korean": lambda draw: f"{_digits(draw, 9)}{draw.choice('元円원人명')}",
    "seasons with dashes": lambda draw: " ".join(
        f"{y}\u2013{(y + 1) % 100:02d}" for y in _ascending(draw, 1850, 2025, 2)
    ),
    "numbers beside each other": lambda draw: " ".join(str(draw.randint(100, 9999)) for _ in range(draw.randint(3, 6))),
    "scores": lambda draw: f"{draw.randint(0, 6)}-{draw.randint(0, 6)}, {draw.randint(0, 6)}-{draw.randint(0, 6)}",
    "UUID": lambda draw: str(uuid.UUID(int=draw.getrandbits(128))),
    "licence key": lambda draw: "-".join(
        "".join(draw.choices(string.ascii_uppercase + string.digits, k=4)) for _ in range(draw.randint(4, 6))
    ),
}

if __name__ == "__main__":
    run(main)
