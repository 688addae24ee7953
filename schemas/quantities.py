"""Numbers with their noun, as sentences and tables print them.

number, noun -> counted -> text
"""

from __future__ import annotations

_IRREGULAR = {"query": "queries", "canary": "canaries"}


def counted(number: int, noun: str) -> str:
    """Return ``1 question``, ``0 questions`` or ``2,000 questions``: the last word of ``noun`` takes the plural."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun, of several words that of the last."""
    *others, last = noun.split(" ")
    return " ".join([*others, _IRREGULAR.get(last, f"{last}s")])
