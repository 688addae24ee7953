"""Agreement of two judgements of the same items, and slips of one person.

numbers of items by both judgements -> Agreement
"""

from __future__ import annotations

from typing import NamedTuple


class Agreement(NamedTuple):
    """Shares of equal judgements; None where nothing was judged so.

    Attributes:
        positive: chance that an item which one person calls right is called right by the other.
        negative: the same of wrong.
    """

    positive: float | None
    negative: float | None


def specific_agreement(both_right: float, differ: float, both_wrong: float) -> Agreement:
    """Return positive and negative agreement, which stay meaningful where nearly all items are right.

    Source: Cicchetti and Feinstein (1990), https://doi.org/10.1016/0895-4356(90)90159-M.

    Args:
        both_right: number, or weight, of items that both call right.
        differ: of those that one calls right and the other wrong.
        both_wrong: of those that both call wrong.
    """
    positive, negative = 2 * both_right + differ, 2 * both_wrong + differ
    return Agreement(2 * both_right / positive if positive else None, 2 * both_wrong / negative if negative else None)
