"""Verdicts of people, added and read.

Verdict -> VerdictStore.add -> stored; VerdictStore.verdicts -> Verdicts in the order of time
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Self

from jobs.review.database.connection import (
    Verdict,
    explained,
    now,
    open_database,
    read_source,
    select_verdicts,
    strata_of,
    strata_text,
    transaction,
)
from jobs.review.people import first_spellings, person_key
from jobs.review.queues.interface import Item, Place, QueueIdentity

CLAIM_S: Final = 600.0
"""Seconds for which an item that is shown to one person is not shown to another one."""

_VALID: Final = "WHERE verdict_id NOT IN (SELECT verdict_id FROM undone)"


class VerdictStore:
    """The verdicts of a database; nothing that was added is ever changed or removed.

    Args:
        path: of the database.
        source: identity of the queue; None: read only.

    Raises:
        QprError: the database cannot be opened or is of another queue.
    """

    def __init__(self, path: str, source: QueueIdentity | None = None) -> None:
        self.path = path
        self._connection = open_database(path, source)
        self._lock = threading.RLock()
        with explained(path):
            self.source = read_source(self._connection)

    def __enter__(self) -> Self:
        """Return the store; the block's end closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database."""
        self._connection.close()

    def add(self, verdicts: Iterable[Verdict], items: Mapping[str, Item]) -> int:
        """Store verdicts, all or none, and return the number of new ones; they are on the disk when this returns.

        Args:
            verdicts: on items of the queue.
            items: the judged items by name.

        Raises:
            QprError: the database cannot be written.
        """
        added = 0
        with self._lock, explained(self.path), transaction(self._connection):
            for verdict in verdicts:
                added += self._add(verdict, items[verdict.item])
        return added

    def add_if_first(self, verdict: Verdict, item: Item, *, earlier: int) -> bool:
        """Store a verdict unless the person has judged the item since it was shown, as in a copy of the window.

        Args:
            verdict: on an item of the queue; it may be there already.
            item: the judged item.
            earlier: number of verdicts that the person had when the item was shown.

        Returns:
            whether it is stored; no other process can store one between look and write.
        """
        with self._lock, explained(self.path), transaction(self._connection):
            since = self._stored_by(verdict.reviewer)[earlier:]
            if any(stored.item == verdict.item and stored.verdict_id != verdict.verdict_id for stored in since):
                return False
            self._add(verdict, item)
        return True

    def undo(self, reviewer: str, *, session: str, verdict_id: str | None = None) -> Verdict | None:
        """Mark a verdict of a person as undone, reserve its item for a session, and return it; None if there is none.

        Args:
            reviewer: name of the person.
            session: that shows the item again, unless another one shows it, or the verdict was undone before.
            verdict_id: of the verdict; None: the one that the person stored last.

        Raises:
            QprError: the database cannot be written.
        """
        with self._lock, explained(self.path), transaction(self._connection):
            mine = self._stored_by(reviewer, _VALID if verdict_id is None else "")
            undone = next((stored for stored in reversed(mine) if verdict_id in (None, stored.verdict_id)), None)
            if undone is not None:
                row = (undone.verdict_id, now())
                if self._connection.execute("INSERT OR IGNORE INTO undone VALUES (?, ?)", row).rowcount:
                    self._claim(undone.item, session, reviewer, None)
        return undone

    def verdicts(self) -> list[Verdict]:
        """Return all verdicts that were not undone, in the order of time, each person under the first spelling."""
        with self._lock, explained(self.path):
            ordered = sorted(
                select_verdicts(self._connection, _VALID), key=lambda verdict: (verdict.judged_at, verdict.verdict_id)
            )
        spelled = first_spellings(verdict.reviewer for verdict in ordered)
        return [verdict._replace(reviewer=spelled[person_key(verdict.reviewer)]) for verdict in ordered]

    def places(self) -> dict[str, Place]:
        """Return place, size and strata of each judged item."""
        with self._lock, explained(self.path):
            rows = self._connection.execute("SELECT item, place, size, strata FROM items").fetchall()
        return {item: Place(place, size, strata_of(strata)) for item, place, size, strata in rows}

    def last_stored(self, reviewer: str, number: int) -> list[tuple[str, str]]:
        """Return names and items of at most this number of verdicts: those that a person stored last, latest first."""
        with self._lock, explained(self.path):
            query = f"SELECT verdict_id, item, reviewer FROM verdicts {_VALID} ORDER BY rowid DESC"  # noqa: S608  # our own
            rows, key = self._connection.execute(query), person_key(reviewer)
            mine = ((name, item) for name, item, person in rows if person_key(person) == key)
            return list(itertools.islice(mine, number))

    def last_row(self) -> int:
        """Return the number of the row that was stored last; 0 without one."""
        with self._lock, explained(self.path):
            [row] = self._connection.execute("SELECT MAX(rowid) FROM verdicts").fetchone()
        return row or 0

    def claim(self, item: str, *, session: str, reviewer: str, since_row: int | None = None) -> bool:
        """Reserve an item for a session and return whether it is free; the session's earlier claim ends.

        Args:
            item: name of the item.
            session: that shows it.
            reviewer: name of the person.
            since_row: the item is not free if it was judged after this row was stored; None: at any time.

        Raises:
            QprError: the database cannot be written.
        """
        with self._lock, explained(self.path), transaction(self._connection):
            return self._claim(item, session, reviewer, since_row)

    def release(self, session: str) -> None:
        """Give the item that a session shows back, so that the next session shows it.

        Raises:
            QprError: the database cannot be written.
        """
        with self._lock, explained(self.path), transaction(self._connection):
            self._connection.execute("DELETE FROM claims WHERE session = ?", (session,))

    def claims(self) -> dict[str, str]:
        """Return the item that each session shows."""
        with self._lock, explained(self.path):
            query = "SELECT session, item FROM claims WHERE at > ?"
            return dict(self._connection.execute(query, (time.time() - CLAIM_S,)).fetchall())

    def merge(self, verdicts: Sequence[Verdict], items: Mapping[str, Item | Place], undone: Mapping[str, str]) -> int:
        """Add verdicts that were judged elsewhere, all or none, and return the number of new ones.

        A verdict is there already if its name is, or one of the same person on the same item at the same time, which
        may be undone; without a time, one of the same person on the same item at any time.

        Args:
            verdicts: to add.
            items: the judged items by name.
            undone: times at which some of the verdicts were undone, by their names.

        Raises:
            QprError: the database cannot be written.
        """
        with self._lock, explained(self.path), transaction(self._connection):
            stored = self.all_verdicts()
            names = {name: name for name in stored}
            same = {content: verdict.verdict_id for verdict in stored.values() for content in _contents(verdict)}
            added = []
            for verdict in verdicts:
                existing = names.get(verdict.verdict_id) or same.get(_contents(verdict)[0])
                names[verdict.verdict_id] = existing or verdict.verdict_id
                if existing is None:
                    added.append(verdict)
                    same |= dict.fromkeys(_contents(verdict), verdict.verdict_id)
            at = now()  # one for all: the order of rows without a time must not decide who judged first
            for verdict in added:
                self._insert(verdict._replace(judged_at=verdict.judged_at or at), items[verdict.item])
            rows = [(names[name], at) for name, at in undone.items() if name in names]
            self._connection.executemany("INSERT OR IGNORE INTO undone VALUES (?, ?)", rows)
        return len(added)

    def all_verdicts(self) -> dict[str, Verdict]:
        """Return all verdicts by their names as they are stored, also those that were undone."""
        with self._lock, explained(self.path):
            return {verdict.verdict_id: verdict for verdict in select_verdicts(self._connection, "")}

    def undone(self) -> dict[str, str]:
        """Return the times at which verdicts were undone, by the names of these."""
        with self._lock, explained(self.path):
            return dict(self._connection.execute("SELECT verdict_id, undone_at FROM undone").fetchall())

    def _insert(self, verdict: Verdict, item: Item | Place) -> int:
        """Insert a verdict and its item where they are not there yet; return 1 if the verdict is new, else 0."""
        facts = (verdict.item, item.place, item.size, strata_text(item.strata))
        self._connection.execute("INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?)", facts)
        row = (*verdict[:4], json.dumps(verdict.strays), verdict.note, verdict.judged_at or now())
        insert = "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)"
        return self._connection.execute(insert, row).rowcount

    def _add(self, verdict: Verdict, item: Item) -> int:
        """Insert a verdict, and remove the person's claim on the item."""
        release = "DELETE FROM claims WHERE item = ? AND reviewer = ?"
        self._connection.execute(release, (verdict.item, person_key(verdict.reviewer)))
        return self._insert(verdict, item)

    def _claim(self, item: str, session: str, reviewer: str, since_row: int | None) -> bool:
        others = "SELECT 1 FROM claims WHERE item = ? AND session != ? AND at > ?"
        if self._connection.execute(others, (item, session, time.time() - CLAIM_S)).fetchone():
            return False
        judged = "SELECT 1 FROM verdicts WHERE rowid > ? AND item = ?"
        if since_row is not None and self._connection.execute(judged, (since_row, item)).fetchone():
            return False
        row = (session, item, person_key(reviewer), time.time())
        self._connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", row)
        return True

    def _stored_by(self, reviewer: str, where: str = _VALID) -> list[Verdict]:
        """Return verdicts of a person; their times are no order if the clock was set back."""
        key = person_key(reviewer)
        return [verdict for verdict in select_verdicts(self._connection, where) if person_key(verdict.reviewer) == key]


def _contents(verdict: Verdict) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return that by which a verdict is the same as another one: with its time, if it has one, and without."""
    plain = (verdict.item, person_key(verdict.reviewer), verdict.verdict)
    return ((*plain, verdict.judged_at) if verdict.judged_at else plain), plain
