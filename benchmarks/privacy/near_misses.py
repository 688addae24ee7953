"""Texts that look like personal data and are none."""

from __future__ import annotations

import re
import string
import uuid

from benchmarks.privacy.personal_values import Draw, ascending, card_number, digits, name, number_range

NEAR: dict[str, Draw] = {
    "card with a wrong digit, in groups": lambda draw: " ".join(
        (lambda n: [n[i : i + 4] for i in range(0, 16, 4)])(re.sub(r"\D", "", card_number(draw, right=False)))
    ),
    "IBAN with wrong check digits, in letters": lambda draw: "GB" + digits(draw, 2) + name(draw),
    "version of a program": lambda draw: (
        f"v{draw.randint(1, 20)}.{draw.randint(0, 9)}.{draw.randint(0, 9)}.{draw.randint(1000, 9999)}"
    ),
    "date and time": lambda draw: (
        f"20{digits(draw, 2)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)} 1{draw.randint(0, 9)}:30"
    ),
    "date": lambda draw: f"1{draw.randint(0, 9)}/0{draw.randint(1, 9)}/19{digits(draw, 2)}",
    "amount": lambda draw: f"{draw.randint(1, 999)},{digits(draw, 3)},{digits(draw, 3)}.50",
    "amount with spaces": lambda draw: f"{draw.randint(1, 999)} {digits(draw, 3)} {digits(draw, 3)} {digits(draw, 3)}",
    "years": lambda draw: f"19{digits(draw, 2)}-20{digits(draw, 2)}",
    "number of up to 8 digits": lambda draw: digits(draw, draw.randint(1, 8)),
    "decimal": lambda draw: f"0.{digits(draw, 12)}",
    "ISBN": lambda draw: f"978-{draw.randint(0, 9)}-{digits(draw, 2)}-{digits(draw, 6)}-{draw.randint(0, 9)}",
    "user name": lambda draw: f"@{name(draw)}",
    "URL without a secret": lambda draw: f"https://{name(draw)}.org/{name(draw)}?page={draw.randint(1, 99)}",
    "time": lambda draw: f"1{draw.randint(0, 9)}:{draw.randint(10, 59)}:{draw.randint(10, 59)}",
    "seasons": lambda draw: " ".join(f"{year}-{(year + 1) % 100:02d}" for year in ascending(draw, 1850, 2025, 2)),
    "periods": lambda draw: " ".join(f"{year}-{year % 100 + 1:02d}" for year in ascending(draw, 1801, 1898, 2)),
    "months": lambda draw: " ".join(f"{draw.randint(1, 12)}-{year}" for year in ascending(draw, 1990, 2030, 2)),
    "ranges": lambda draw: f"{number_range(draw, 10, 99)} {number_range(draw, 10, 99)} {draw.randint(10, 99)}",
    "scores of three digits": lambda draw: " ".join(f"{draw.randint(70, 140)}-{draw.randint(70, 140)}" for _ in "12"),
    "prices": lambda draw: f"{draw.randint(100, 999)}.{digits(draw, 2)} {draw.randint(100, 999)}.{digits(draw, 2)}",
    "section": lambda draw: (
        draw.choice(["section ", "chapter ", "§", "clause "]) + ".".join(str(draw.randint(1, 20)) for _ in range(4))
    ),
    "two ZIP codes": lambda draw: f"0{digits(draw, 4)} 0{digits(draw, 4)}",
    "ZIP code of nine digits": lambda draw: f"0{digits(draw, 4)}-{digits(draw, 4)}",
    "hour and date": lambda draw: (
        f"0{draw.randint(1, 9)}30 20{draw.randint(10, 30)}0{draw.randint(1, 9)}1{draw.randint(0, 9)}"
    ),
    "binary": lambda draw: " ".join("".join(draw.choices("01", k=draw.choice([4, 6]))) for _ in "12"),
    "URL of a page": lambda draw: f"https://{name(draw)}.org/{name(draw)}#{name(draw)}",
    "product number": lambda draw: f"{draw.randint(1000, 9999)}-{digits(draw, 4)}",
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
        f"{draw.choice(['hs code ', ''])}{draw.randint(1000, 9999)}.{digits(draw, 2)}.{digits(draw, 2)}.00"
    ),
    "drug code": lambda draw: f"ndc {digits(draw, 4)}-{digits(draw, 4)}-{digits(draw, 2)}",
    "lottery": lambda draw: " ".join(f"{number:02d}" for number in ascending(draw, 1, 50, 5)),
    "repetitions": lambda draw: "-".join(map(str, ascending(draw, 10, 100, 5)[:: draw.choice([1, -1])])),
    "thousands": lambda draw: f"{draw.randint(1, 9)} {digits(draw, 3)} {digits(draw, 3)}",
    "years in a row": lambda draw: " ".join(map(str, ascending(draw, 1950, 2030, draw.randint(3, 6)))),
    "small numbers": lambda draw: " ".join(map(str, range(draw.randint(1, 6), draw.randint(8, 20)))),
    "times": lambda draw: " ".join(f"{draw.randint(0, 23):02d}{draw.choice(['00', '15', '30', '45'])}" for _ in "123"),
    "amount in Chinese, Japanese or Korean": lambda draw: f"{digits(draw, 9)}{draw.choice('元円원人명')}",
    "seasons with dashes": lambda draw: " ".join(
        f"{y}\u2013{(y + 1) % 100:02d}" for y in ascending(draw, 1850, 2025, 2)
    ),
    "numbers beside each other": lambda draw: " ".join(str(draw.randint(100, 9999)) for _ in range(draw.randint(3, 6))),
    "scores": lambda draw: f"{draw.randint(0, 6)}-{draw.randint(0, 6)}, {draw.randint(0, 6)}-{draw.randint(0, 6)}",
    "UUID": lambda draw: str(uuid.UUID(int=draw.getrandbits(128))),
    "licence key": lambda draw: "-".join(
        "".join(draw.choices(string.ascii_uppercase + string.digits, k=4)) for _ in range(draw.randint(4, 6))
    ),
}
