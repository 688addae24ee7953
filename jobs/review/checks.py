"""Checks of a verdict before it is stored, from a person or from a file.

Queue, Verdict -> check_verdict -> the judged Item
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from jobs.display.safe_text import CONTROLS
from jobs.review.database.connection import Verdict, check_source
from jobs.review.queues.interface import STRAY, VERDICTS, Item, Queue
from jobs.review.store import VerdictStore
from schemas.errors import QprError

MOST_NOTE: Final = 2000
"""Maximum characters of a note."""

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
"""Bytes of a terminal that are no UTF-8."""


def check_queue(store: VerdictStore, queue: Queue) -> None:
    """Refuse verdicts on another queue, or on items that have other places now: these are in another random order.

    Args:
        store: the verdicts.
        queue: that is judged now.

    Raises:
        QprError: the queue is another one, or an item has another place.
    """
    check_source(store.path, store.source, queue.source)
    if any(queue.places.get(item) not in (None, judged.place) for item, judged in store.places().items()):
        order = f"has verdicts in another order of the {queue.source.kind}, by an earlier release of qpr"
        raise QprError(f"{store.path}: {order}. Judge in another --database")


def note_text(given: str) -> str:
    """Return a note that every format can hold: without control characters, except line feeds and tabs."""
    return _SURROGATES.sub("\ufffd", CONTROLS.sub("", re.sub(r"\r\n?", "\n", given)))


def check_verdict(queue: Queue, verdict: Verdict, *, more: Collection[str] = ()) -> Item:
    """Return the item of a verdict.

    Args:
        queue: with the item.
        verdict: on an item of the queue.
        more: verdicts that are accepted besides those of the queue's kind.

    Raises:
        QprError: verdict, strays or note do not fit.
    """
    accepted = dict.fromkeys([*VERDICTS[queue.source.kind].values(), *more])
    if verdict.verdict not in accepted:
        raise QprError(f"verdict {verdict.verdict[:40]!a} is none of {', '.join(accepted)}. Correct it")
    item, strays = queue.item(queue.places[verdict.item]), set(verdict.strays)
    unknown = sorted(strays - {line.name for line in item.lines if line.name})
    if unknown:
        raise QprError(f"stray {unknown[0][:40]!a} is no wording of {verdict.item}. Leave it out")
    if len(verdict.note) > MOST_NOTE:
        raise QprError(f"the note on {verdict.item} has more than {MOST_NOTE:,} characters. Shorten it")
    if (verdict.verdict == STRAY) != bool(strays) or len(strays) >= max(len(item.lines), 2):
        raise QprError("with the verdict stray, and only with it, mark at least one wording and not all of them")
    return item
