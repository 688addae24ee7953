"""Generated personal data of every kind."""

from __future__ import annotations

import ipaddress
import itertools
import random
import string
from collections.abc import Callable

SENTENCES = (
    "is {} right?",
    "please send it to {}, thanks",
    "my number {} does not work",
    "{}",
    "why ({})",
    "it was {}.",
)
Draw = Callable[[random.Random], str]


def digits(draw: random.Random, count: int) -> str:
    """Return some random digits."""
    return "".join(draw.choices(string.digits, k=count))


def _groups(draw: random.Random, text: str, sizes: list[int], separators: str = " -") -> str:
    parts, start = [], 0
    for size in sizes:
        parts.append(text[start : start + size])
        start += size
    return draw.choice(separators).join(parts)


def ascending(draw: random.Random, low: int, high: int, count: int) -> list[int]:
    """Return different numbers from ``low`` to below ``high``, ascending."""
    return sorted(draw.sample(range(low, high), count))


def name(draw: random.Random) -> str:
    """Return two to nine random letters."""
    return "".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 9)))


def _email(draw: random.Random) -> str:
    local = draw.choice([".", "_", "-", "+", "", "'"]).join(name(draw) for _ in range(draw.randint(1, 2)))
    host = f"{name(draw)}.{draw.choice(['com', 'org', 'co.uk', 'info', 'de'])}"
    return f"{local}{draw.choice(['', digits(draw, 2)])}@{host}"


def card_number(draw: random.Random, *, right: bool) -> str:
    """Return the number of a payment card; ``right``: with the right check digit."""
    first = draw.choice(["4", "51", "34", "6011", "2221"]) + digits(draw, 11)
    first = first[:15]
    total = sum(int(d) if n % 2 else sum(divmod(2 * int(d), 10)) for n, d in enumerate(reversed(first)))
    last = -total % 10
    number = first + str(last if right else (last + draw.randint(1, 9)) % 10)
    return draw.choice([number, _groups(draw, number, [4, 4, 4, 4], " -.")])


def iban(draw: random.Random, *, right: bool) -> str:
    """Return an account number; ``right``: with the right check digits."""
    country, length = draw.choice([("DE", 18), ("NL", 14), ("GB", 18), ("FR", 23), ("NO", 11)])
    letters = country in {"NL", "GB"}
    account = ("".join(draw.choices(string.ascii_uppercase, k=4)) if letters else "") + digits(
        draw, length - 4 * letters
    )
    number = int("".join(str(int(c, 36)) for c in f"{account}{country}00"))
    check = 98 - number % 97
    whole = f"{country}{check if right else (check + 7) % 90 + 2:02d}{account}"
    return draw.choice([whole, whole.lower(), " ".join(whole[i : i + 4] for i in range(0, len(whole), 4))])


def _phone(draw: random.Random) -> str:
    country = draw.choice(["+", "00"]) + draw.choice(["1", "44", "49", "91", "353"])
    area, rest = str(draw.randint(20, 999)), digits(draw, 7)
    formats = [
        f"{country} {area} {rest}", f"{country}{area}{rest}", f"{country} ({area}) {rest[:3]}-{rest[3:]}",
        f"{draw.randint(200, 999)}-{rest[:3]}-{rest[3:]}", f"({draw.randint(200, 999)}) {rest[:3]}-{rest[3:]}",
        f"1-800-{rest[:3]}-{rest[3:]}", f"0{draw.randint(20, 999)} {rest[:3]} {rest[3:]}",
        " ".join(["06", *(digits(draw, 2) for _ in range(4))]),
    ]  # fmt: skip
    return draw.choice([*formats, *_two_groups(draw)])


def _two_groups(draw: random.Random) -> list[str]:
    """Return numbers of an area with its trunk prefix and a subscriber, as in Germany and the United Kingdom."""
    area, mobile = f"0{draw.randint(20, 999)}", f"0{draw.randint(7100, 7999)}"
    rest = f"{draw.randint(1, 9)}{digits(draw, draw.choice([5, 6]))}"
    return [
        f"{area} {rest}", f"{area}/{rest}", f"{area}-{rest}", f"{area} / {rest}", f"({area}) {rest}",
        f"{mobile} {draw.randint(1, 9)}{digits(draw, 5)}", f"0800 {draw.randint(1, 9)}{digits(draw, 5)}",
    ]  # fmt: skip


def _ip(draw: random.Random) -> str:
    public = (ipaddress.IPv4Address(draw.getrandbits(32)) for _ in itertools.count())
    v4 = next(
        str(address)
        for address in public
        if address.is_global and not address.is_multicast and min(address.packed) >= 10
    )
    v6 = ":".join(f"{number:x}" for number in (draw.randint(0x2400, 0x2FFF), *draw.choices(range(1, 65_536), k=7)))
    return draw.choice([v4, v6, "2001:4860::" + v6[-9:].strip(":")])


def _url(draw: random.Random) -> str:
    secret = draw.choice(["token", "api_key", "password", "access_token", "sig", "pwd", "X-Amz-Signature", "sid"])
    with_user = f"https://{name(draw)}:{name(draw)}@{name(draw)}.org/{name(draw)}"
    page, value = f"https://{name(draw)}.com/{name(draw)}", f"{secret}={digits(draw, 8)}"
    return draw.choice([with_user, f"{page}?a=1&{value}", f"{page}?{value}", f"{page}#{value}"])


def number_range(draw: random.Random, low: int, high: int) -> str:
    """Return two ascending numbers from ``low`` to ``high`` with a hyphen between them."""
    first = draw.randint(low, high - 1)
    return f"{first}-{draw.randint(first + 1, high)}"


PERSONAL: dict[str, Draw] = {
    "email": _email,
    "card": lambda draw: card_number(draw, right=True),
    "iban": lambda draw: iban(draw, right=True),
    "ip": _ip,
    "phone": _phone,
    "number": lambda draw: str(draw.randint(1, 9)) + digits(draw, draw.choice([8, 9, 10, 11])),
    "url": _url,
}
