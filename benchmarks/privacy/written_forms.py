"""Personal data in forms beyond the usual ones: other characters, scripts without spaces, beside other numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from benchmarks.privacy.personal_values import PERSONAL, SENTENCES, Draw, card_number, digits, iban

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


def _more_phones(draw: random.Random) -> str:
    """Return a number in a form that begins with no 0 or +, or whose groups are of one length."""
    area, rest, mobile = draw.randint(201, 999), digits(draw, 7), f"1{draw.randint(30, 99)}"
    russian = f"{draw.choice('3489')}{digits(draw, 2)}"
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
    whole = re.sub(" ", "", iban(draw, right=True))
    sentence, hyphen = draw.choice(SENTENCES), draw.choice(f"-{HYPHENS}")
    return sentence.format(hyphen.join(re.findall(".{1,4}", whole))), sentence.format("[iban]")


def _without_spaces(kind: str, drawn: Draw) -> Form:
    def write(draw: random.Random) -> tuple[str, str]:
        sentence = draw.choice(draw.choice(UNSPACED))
        return sentence.format(drawn(draw)), sentence.format(f"[{kind}]")

    return kind, write


def _card_beside_numbers(draw: random.Random) -> tuple[str, str]:
    number = re.sub(r"\D", "", card_number(draw, right=True))
    card = draw.choice([number, " ".join(number[place : place + 4] for place in range(0, 16, 4))])
    date = f"{draw.randint(1, 12):02d}/{draw.randint(25, 35)}"
    beside = ["{} " + date, "{} " + f"{date} {digits(draw, 3)}", "{} " + digits(draw, 3), "{} 2 times"]
    sentence = draw.choice([*beside, f"{draw.randint(2, 9)} {{}}"])
    return sentence.format(card), sentence.format("[card]")


FORMS: dict[str, Form] = {
    **{
        f"{kind}, other characters": _in_other_characters(kind) for kind in ("email", "card", "iban", "phone", "number")
    },
    "card beside numbers": ("card", _card_beside_numbers),
    **{f"{kind}, scripts without spaces": _without_spaces(kind, PERSONAL[kind]) for kind in PERSONAL if kind != "iban"},
    "IBAN in groups with hyphens": ("iban", _iban_with_hyphens),
    "phone, no 0 or + before it": ("phone", lambda draw: (f"is {(_more_phones(draw))} right?", "is [phone] right?")),
}
