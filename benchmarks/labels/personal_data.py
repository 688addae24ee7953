"""Precision and recall of the replacement of personal data, on generated texts with near misses.

Run: python -m benchmarks.labels.personal_data

Each kind is written in several formats with random digits and letters, and put into sentences. A near miss has the form
of a kind but is none: wrong check digits, versions, dates, amounts, book numbers, user names. Recall is the share of
the personal data that is replaced as a whole, with no other character; precision the share of all replacements that
replace personal data.
"""

from __future__ import annotations

import random
import re
import string
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
    v4 = ".".join(str(draw.randint(10, 255)) for _ in range(4))
    v6 = ":".join(f"{draw.randint(1, 65_535):x}" for _ in range(8))
    return draw.choice([v4, v6, "2001:db8::" + v6[-9:].strip(":")])


def _url(draw: random.Random) -> str:
    secret = draw.choice(["token", "api_key", "password", "access_token", "sig", "pwd", "X-Amz-Signature", "sid"])
    with_user = f"https://{_name(draw)}:{_name(draw)}@{_name(draw)}.org/{_name(draw)}"
    page, value = f"https://{_name(draw)}.com/{_name(draw)}", f"{secret}={_digits(draw, 8)}"
    return draw.choice([with_user, f"{page}?a=1&{value}", f"{page}?{value}", f"{page}#{value}"])


def _numbers(draw: random.Random, low: int, high: int) -> str:
    first = draw.randint(low, high - 1)
    return f"{first}-{draw.randint(first + 1, high)}"


PERSONAL: dict[str, Draw] = {
    "email": _email,
    "card": lambda draw: _luhn(draw, right=True),
    "iban": lambda draw: _iban(draw, right=True),
    "ip": _ip,
    "phone": _phone,
    "number": lambda draw: str(draw.randint(1, 9)) + _digits(draw, draw.choice([8, 9, 10, 11])),
    "url": _url,
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
    "scores": lambda draw: f"{draw.randint(0, 6)}-{draw.randint(0, 6)}, {draw.randint(0, 6)}-{draw.randint(0, 6)}",
}

if __name__ == "__main__":
    run(main)
