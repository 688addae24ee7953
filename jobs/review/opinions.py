"""The outcome of an item from the opinions of several people.

verdicts -> opinions -> the verdicts of each person on each item -> outcome
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from jobs.review.database.connection import Verdict
from jobs.review.queues.interface import RIGHT
from schemas.text import hash64

ONE_OF: Final = 20
"""One of this number of verdicts is a hidden repeat, and one of it among right items is shown to a second person."""

People = Mapping[str, Sequence[Verdict]]
"""The verdicts of each person on one item, in the order of time; the person who judged first comes first."""


class Outcome(NamedTuple):
    """The state of an item.

    Attributes:
        verdict: right only if more people call it right than not.
        waits: a further person has to judge it.
    """

    verdict: str
    waits: bool


def opinions(verdicts: Iterable[Verdict]) -> dict[str, dict[str, list[Verdict]]]:
    """Return the verdicts by item and person, both in the order of their first verdict.

    Args:
        verdicts: in the order of time.
    """
    grouped: dict[str, dict[str, list[Verdict]]] = {}
    for verdict in verdicts:
        grouped.setdefault(verdict.item, {}).setdefault(verdict.reviewer, []).append(verdict)
    return grouped


def opinion(verdicts: Sequence[Verdict]) -> str:
    """Return the opinion of one person: right only if it was right each time."""
    return next((verdict.verdict for verdict in verdicts if verdict.verdict != RIGHT), RIGHT)


def outcome(people: People, *, shared: bool) -> Outcome:
    """Return the outcome of an item.

    Until a second person has judged it, an item that one person does not call right is not right; neither is a tie,
    which waits for a further person.

    Args:
        people: verdicts of at least one person.
        shared: a second person judges the item although the first calls it right.
    """
    given = [opinion(verdicts) for verdicts in people.values()]
    if given == [RIGHT]:  # nearly all items
        return Outcome(RIGHT, waits=shared)
    faults = collections.Counter(verdict for verdict in given if verdict != RIGHT)
    right, wrong = len(given) - faults.total(), faults.total()
    if right > wrong:
        return Outcome(RIGHT, waits=False)
    return Outcome(faults.most_common(1)[0][0], waits=len(given) == 1 or right == wrong)


@functools.lru_cache(100_000)  # after each verdict all judged items are counted again
def is_shared(item: str, seed: int) -> bool:
    """Return whether a second person judges an item in any case, so that a second opinion is no sign of a fault."""
    return hash64(f"shared:{seed}:{item}") % ONE_OF == 0
