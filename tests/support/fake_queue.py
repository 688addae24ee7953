"""A queue of a spot check in memory."""

from __future__ import annotations

from jobs.review.queues.interface import Item, Line, QueueIdentity
from jobs.review.settings import Kind


class FakeQueue:
    """Items named "i0", "i1", …, of 2 to 4 wordings."""

    def __init__(self, items: int = 40, *, kind: Kind = "clusters", seed: int = 0, digest: str = "d1") -> None:
        self.items = [
            Item(
                f"i{place}",
                place,
                f"answer {place}",
                tuple(Line(f"w{place}-{number}", f"wording {number} of {place}", 3) for number in range(2 + place % 3)),
                2 + place % 3,
                {"split": "test" if place % 2 else "train"},
            )
            for place in range(items)
        ]
        self.places = {item.name: item.place for item in self.items}
        self.source = QueueIdentity(kind, digest, seed, items, sum(item.size for item in self.items), 4)

    def item(self, place: int) -> Item:
        return self.items[place]
