"""A queue of what people judge.

dataset or requests file, seed -> Queue -> Item after Item
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from jobs.review.settings import Kind

RIGHT: Final = "right"
STRAY: Final = "stray"
UNCLEAR: Final = "cannot tell"
WRONG: Final = "wrong"

VERDICTS: Final[Mapping[Kind, Mapping[str, str]]] = {
    "clusters": {"r": RIGHT, "s": STRAY, "m": "several", "c": UNCLEAR},
    "pairs": {"r": RIGHT, "w": WRONG, "c": UNCLEAR},
    "requests": {"r": RIGHT, "w": WRONG, "c": UNCLEAR},
}
"""Verdicts of each kind of queue by their keys."""

LABELS: Final[Mapping[str, str]] = {
    RIGHT: "right",
    WRONG: "wrong",
    STRAY: "a stray: mark it",
    "several": "several meanings",
    UNCLEAR: "cannot tell",
}
"""Texts of the buttons."""

QUESTIONS: Final[Mapping[Kind, str]] = {
    "clusters": "Do all these questions ask the same?",
    "pairs": "Do both questions ask the same?",
    "requests": "Is this a right answer to the question?",
}
"""The question that a person answers by a verdict."""

ITEM_COLUMNS: Final[Mapping[Kind, str]] = {"clusters": "cluster_id", "pairs": "pair_id", "requests": "review_id"}
"""Column with the name of an item in files of verdicts."""


class Line(NamedTuple):
    """A wording.

    Attributes:
        name: of the question, "q" and 16 hexadecimal digits; None where it cannot be marked.
        text: of the question.
        events: number of times it was asked; None where that is not shown.
    """

    name: str | None
    text: str
    events: int | None = None


class Item(NamedTuple):
    """One thing to judge, without all that could bias a verdict: no split, score or probability.

    Attributes:
        name: of it in every file.
        place: in the order of the queue, from 0.
        answer: given to its questions; None where there is none.
        lines: its wordings.
        size: its weight in the statistics by question.
        strata: the part of the queue that it belongs to, by kind of part; not shown.
        filters: values of the columns that an index varies by, with which the question was asked.
    """

    name: str
    place: int
    answer: str | None
    lines: tuple[Line, ...]
    size: int
    strata: Mapping[str, str]
    filters: Mapping[str, str] = {}

    @property
    def asked_for(self) -> str:
        """Return the values with their columns; empty where there are none."""
        return ", ".join(f"{name}: {value}" for name, value in self.filters.items())


class Place(NamedTuple):
    """Place, size and strata of an item that was judged."""

    place: int
    size: int
    strata: Mapping[str, str]


class QueueIdentity(NamedTuple):
    """Identity and extent of a queue, stored with the verdicts.

    Attributes:
        kind: of the queue.
        digest: of the dataset or the requests file.
        seed: of the order.
        items: number of items.
        questions: sum of their sizes.
        largest: size of the largest.
    """

    kind: Kind
    digest: str
    seed: int
    items: int
    questions: int
    largest: int


class Queue(Protocol):
    """Items in an order that the seed decides; every sample is a prefix of it."""

    @property
    def source(self) -> QueueIdentity:
        """Return identity and extent."""
        ...

    @property
    def places(self) -> Mapping[str, int]:
        """Return the place of each item by its name."""
        ...

    def item(self, place: int) -> Item:
        """Return the item at a place."""
        ...


def question_name(question_id: int) -> str:
    """Return the name of a question in files, which no spreadsheet takes for a number."""
    return f"q{question_id % 2**64:016x}"
