"""Numbers with their noun or unit, as sentences and tables print them.

number, noun -> counted -> text; numbers, noun -> listed -> text; texts -> shortened -> text
share -> rounded_percent -> text
"""

from __future__ import annotations

from collections.abc import Sequence

_IRREGULAR = {"query": "queries", "canary": "canaries"}
_SHOWN = 5
"""Number of numbers that a message lists before it counts the others."""


def counted(number: int, noun: str) -> str:
    """Return ``1 question``, ``0 questions`` or ``2,000 questions``: the last word of ``noun`` takes the plural."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def listed(noun: str, numbers: Sequence[int]) -> str:
    """Return ``row 1442``, ``rows 1 and 2`` or ``rows 1, 2, 3, 4, 5 and 1,200 more``: a noun with the first numbers.

    The numbers are names, so they have no thousands separators: between commas those would look like further numbers.
    """
    shown = [str(number) for number in numbers[:_SHOWN]]
    if len(numbers) > _SHOWN:
        shown.append(f"{len(numbers) - _SHOWN:,} more")
    *first, last = shown
    text = f"{', '.join(first)} and {last}" if first else last
    return f"{noun if len(numbers) == 1 else plural(noun)} {text}"


def shortened(texts: Sequence[str], shown: int) -> str:
    """Return ``a``, ``a, b`` or ``a, b and 1,200 more``: the first texts, separated by commas."""
    more = f" and {len(texts) - shown:,} more" if len(texts) > shown else ""
    return ", ".join(texts[:shown]) + more


def plural(noun: str) -> str:
    """Return the plural of a noun, of several words that of the last."""
    *others, last = noun.split(" ")
    return " ".join([*others, _IRREGULAR.get(last, f"{last}s")])


def rounded_percent(share: float, decimals: int = 1) -> str:
    """Return ``12.3 %``: a share in percent, rounded; nearly none is ``0.0 %`` and nearly all ``100.0 %``."""
    return f"{100 * share:.{decimals}f} %"
