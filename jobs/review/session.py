"""The next item for each person, and the verdicts on it.

Queue, VerdictStore -> Review: next_task -> Task -> judge, undo -> Progress
"""

from __future__ import annotations

import collections
import uuid
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from jobs.review.checks import check_verdict, note_text
from jobs.review.database.connection import Verdict
from jobs.review.opinions import ONE_OF, is_shared, opinions, outcome
from jobs.review.people import person_key, person_name
from jobs.review.queues.interface import Item, Queue
from jobs.review.store import VerdictStore
from jobs.review.tally import Share, tally
from schemas.errors import QprError
from schemas.text import hash64

_APART: Final = 10
"""Minimum number of verdicts between one and its hidden repeat."""

_SECOND: Final = 3
"""One of this number of items is a second opinion as long as some are missing, so that it cannot be recognized."""


class Task(NamedTuple):
    """An item for a person; nothing shows whether it is new, a repeat or a second opinion."""

    item: Item
    number: int


class Progress(NamedTuple):
    """The state of the queue.

    Attributes:
        mine: number of verdicts of the person.
        last: name of the verdict that the person stored last; None without one.
        judged: number of judged items.
        items: number of items of the queue.
        share: of right ones among the judged ones, with its bound; None where the queue is no plain random sample.
        claim: share to show.
        missing: number of further right items until the claim is supported; None: too many are wrong.
        waiting: number of items that wait for a further person.
    """

    mine: int
    last: str | None
    judged: int
    items: int
    share: Share | None
    claim: float
    missing: int | None
    waiting: int


class Review:
    """A queue that several people judge.

    Args:
        queue: the items.
        store: of the verdicts.
        claim: share to show.
        error: chance of a false claim.
    """

    def __init__(self, queue: Queue, store: VerdictStore, *, claim: float = 0.99, error: float = 0.05) -> None:
        self.queue = queue
        self.store = store
        self._claim = claim
        self._error = error

    def next_task(self, reviewer: str, session: str) -> Task | None:
        """Return the item that a session shows, or a new one; None if nothing is left for this person.

        Raises:
            QprError: dataset or database cannot be read or written.
        """
        while True:
            # In this order, an item that another person judges meanwhile is in the claims or has a later row.
            row, claims, verdicts = self.store.last_row(), self.store.claims(), self.store.verdicts()
            reviewer = spelling(reviewer, verdicts)
            name = claims.pop(session, None) or self._choose(reviewer, verdicts, set(claims.values()))
            if name is None:
                return None
            if self.store.claim(name, session=session, reviewer=reviewer, since_row=row):
                return Task(self._item(name), sum(verdict.reviewer == reviewer for verdict in verdicts) + 1)

    def judge(
        self,
        item: str,
        verdict: str,
        *,
        reviewer: str,
        strays: Collection[str] = (),
        note: str = "",
        verdict_id: str | None = None,
        number: int | None = None,
    ) -> bool:
        """Store a verdict and return True; when this returns, it is on the disk.

        Args:
            item: name of the item.
            verdict: one of those of the queue's kind.
            reviewer: name of the person.
            strays: names of questions that do not belong to the others, with the verdict "stray".
            note: any text.
            verdict_id: name of the verdict; the same one sent twice is stored once.
            number: that of the task that showed the item: if the person has judged the item since, as in a copy of the
                window, the verdict is not stored, and False is returned. None: it is stored in any case.

        Raises:
            QprError: item, verdict or strays do not fit, or the database cannot be written.
        """
        if item not in self.queue.places:  # a page that was left open shows it
            cause = f"{item[:60]!a} is no item of this queue: the server was started again on another one"
            raise QprError(f"{cause}. Reload the page")
        named = verdict_id or uuid.uuid4().hex
        stored = Verdict(named, item, checked_name(reviewer), verdict, tuple(sorted(set(strays))), note_text(note))
        judged = check_verdict(self.queue, stored)
        if number is not None:
            return self.store.add_if_first(stored, judged, earlier=number - 1)
        self.store.add([stored], {item: judged})
        return True

    def undo(self, reviewer: str, session: str, verdict_id: str | None = None) -> Verdict | None:
        """Undo a verdict of a person, show its item again, and return it; None if there is none.

        Args:
            reviewer: name of the person.
            session: that shows the item.
            verdict_id: of the verdict, so that a request that is sent twice undoes one; None: the one stored last.

        Raises:
            QprError: the database cannot be written.
        """
        return self.store.undo(reviewer, session=session, verdict_id=verdict_id)

    def progress(self, reviewer: str) -> Progress:
        """Return the state of the queue for a person."""
        source, verdicts = self.queue.source, self.store.verdicts()
        figures = tally(verdicts, self.store.places(), source, claim=self._claim, error=self._error)
        share = None if source.kind == "pairs" else figures.all
        mine = figures.reviewers.get(spelling(reviewer, verdicts), 0)
        last = next((name for name, _ in self.store.last_stored(reviewer, 1)), None)
        return Progress(
            mine, last, figures.judged, source.items, share, self._claim, figures.missing, len(figures.waiting)
        )

    def _choose(self, reviewer: str, verdicts: list[Verdict], claimed: set[str]) -> str | None:
        """Return the name of the next item, which no other session shows.

        Which kind of task it is depends on seed, person and number of verdicts.
        """
        grouped, seed = opinions(verdicts), self.queue.source.seed
        mine = [verdict.item for verdict in verdicts if verdict.reviewer == reviewer]
        chance = hash64(f"task:{seed}:{reviewer}:{len(mine)}")
        if chance % ONE_OF == 0 and (once := self._repeatable(reviewer, mine, claimed)):
            return once[(chance // ONE_OF) % len(once)]
        seconds = [
            item
            for item, people in grouped.items()
            if reviewer not in people and item not in claimed and outcome(people, shared=is_shared(item, seed)).waits
        ]
        if seconds and (chance // ONE_OF) % _SECOND == 0:
            return seconds[0]
        return self._first_new(grouped.keys() | claimed) or (seconds[0] if seconds else None)

    def _repeatable(self, reviewer: str, mine: list[str], claimed: set[str]) -> list[str]:
        """Return the items that a person judged once, without the last ones, in the order of time or of storing.

        They differ after the clock was set back, or verdicts were merged.
        """
        left_out = {*mine[-_APART:], *(item for _, item in self.store.last_stored(reviewer, _APART)), *claimed}
        times = collections.Counter(mine)
        return [item for item in mine if times[item] == 1 and item not in left_out]

    def _first_new(self, taken: Collection[str]) -> str | None:
        places = {self.queue.places.get(item) for item in taken}
        free = next((place for place in range(len(places) + 1) if place not in places), 0)
        return self.queue.item(free).name if free < self.queue.source.items else None

    def _item(self, name: str) -> Item:
        place = self.queue.places.get(name)
        if place is None:
            fault = f"has verdicts on {name}, which is no item of this queue"
            raise QprError(f"{self.store.path}: {fault}. Restore a copy, or judge in another --database")
        return self.queue.item(place)


def checked_name(reviewer: str) -> str:
    """Return the name of a person without outer and repeated spaces.

    Raises:
        QprError: nobody can have this name.
    """
    try:
        return person_name(reviewer)
    except ValueError as error:
        raise QprError(f"reviewer: {error}") from error


def spelling(reviewer: str, verdicts: Iterable[Verdict]) -> str:
    """Return the name under which a person has judged; a new person's name is the given one.

    Raises:
        QprError: nobody can have this name.
    """
    name = checked_name(reviewer)
    key = person_key(name)
    return next((verdict.reviewer for verdict in verdicts if person_key(verdict.reviewer) == key), name)
