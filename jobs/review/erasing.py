"""Erasure from a review database: notes with an erased question, and its name among the strays.

path, Erasure -> erase_from_review -> counts of what was erased; path, datasets -> dataset_of -> the dataset judged
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jobs.display.console import warn
from jobs.review.database import explained, open_database, read_source, transaction
from jobs.review.queues.clusters import ClusterQueue
from jobs.review.queues.interface import Source
from jobs.review.store import strata_text
from pipelines.privacy.erase import Erasure
from pipelines.privacy.mentions import Mentions
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError

_REWRITE: Final = ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
"""Removes what was in pages that are free now, and the log of writes."""


def dataset_of(path: str, datasets: Sequence[str], *, dry_run: bool) -> str | None:
    """Return the dataset whose clusters or pairs a database has verdicts on; None for a queue of requests.

    Args:
        path: of the database.
        datasets: URLs, also of datasets from which questions were erased since; none: any dataset is right.
        dry_run: it has not to be writable.

    Raises:
        QprError: the database cannot be read or written, or has verdicts on another dataset.
    """
    with contextlib.closing(open_database(path)) as connection, explained(path):
        source = read_source(connection)
    if not dry_run and not (os.access(path, os.W_OK) and os.access(Path(path).absolute().parent, os.W_OK)):
        raise QprError(f"{path}: cannot be written to, so nothing was erased. Change its permissions, or leave it out")
    if source.kind == "requests" or not datasets:
        return None
    for url in datasets:
        if read_manifest(url, "dataset").is_or_was(source.digest):
            return url
    raise QprError(
        f"{path}: has verdicts on another dataset, with digest {source.digest[:16]}. Leave it out, or give its dataset"
    )


def erase_from_review(path: str, erasure: Erasure, dataset: str | None, *, dry_run: bool) -> dict[str, Any]:
    """Erase questions from a database of verdicts; return how many verdicts and judged clusters had them.

    The database is written again whole, so nothing is left in free pages. Verdicts stay, except those on clusters of
    ``dataset`` that are gone, and the database belongs to the dataset without the questions, unless it is of pairs.

    Args:
        path: of the database.
        erasure: the questions.
        dataset: URL of the judged dataset, from which the questions were erased; None: the queue stays as it is.
        dry_run: count only.

    Raises:
        QprError: the database cannot be read or written.
    """
    with contextlib.closing(open_database(path)) as connection, explained(path):
        source = read_source(connection)
        if dry_run:
            return _result(path, _found(connection, erasure), clusters=0, rewritten=False)
    with contextlib.closing(open_database(path, source)) as connection, explained(path):
        connection.execute("PRAGMA secure_delete = ON")
        with transaction(connection):
            found = _found(connection, erasure)
            connection.executemany("UPDATE verdicts SET note = ?, strays = ? WHERE verdict_id = ?", found)
            gone = _follow(path, connection, source, dataset) if dataset else 0
        for statement in _REWRITE:
            connection.execute(statement)
    return _result(path, found, clusters=gone, rewritten=bool(found or gone))


def _result(path: str, found: Sequence[tuple[str, str, str]], *, clusters: int, rewritten: bool) -> dict[str, Any]:
    return {"review": path, "rewritten": rewritten, "verdicts": len(found), "clusters": clusters}


def _found(connection: sqlite3.Connection, erasure: Erasure) -> list[tuple[str, str, str]]:
    """Return note, strays and id of each verdict that changes."""
    mentions = Mentions(erasure)
    names, changed = mentions.names, []
    for name, note, strays in connection.execute("SELECT verdict_id, note, strays FROM verdicts").fetchall():
        listed = json.loads(strays)
        left = [stray for stray in listed if stray not in names]
        if left != listed or mentions.mentions(note):
            changed.append(("" if mentions.mentions(note) else note, json.dumps(left), name))
    return changed


def _follow(path: str, connection: sqlite3.Connection, source: Source, dataset: str) -> int:
    """Make the database that of the dataset as it is now; return the number of judged clusters that are gone.

    Verdicts on pairs stay those on the dataset before: what it is now has another random sample.
    """
    opened = open_dataset(dataset)
    if opened.manifest.digest == source.digest:
        return 0
    if source.kind == "pairs":
        fault = f"its sample of pairs is of {dataset} as it was before the erasure, and cannot be continued"
        warn(f"{path}: {fault}. Judge the dataset as it is now in another --database")
        return 0
    queue = ClusterQueue(opened, source.seed)
    judged = [item for [item] in connection.execute("SELECT item FROM items").fetchall()]
    places = {item: queue.place(item) for item in judged}
    gone = [(item,) for item, place in places.items() if place is None]
    verdicts = "SELECT verdict_id FROM verdicts WHERE item = ?"
    connection.executemany(f"DELETE FROM undone WHERE verdict_id IN ({verdicts})", gone)  # noqa: S608
    for table in ("verdicts", "claims", "items"):
        connection.executemany(f"DELETE FROM {table} WHERE item = ?", gone)  # noqa: S608
    stay = [queue.item(place) for place in places.values() if place is not None]
    facts = [(item.place, item.size, strata_text(item.strata), item.name) for item in stay]
    connection.executemany("UPDATE items SET place = ?, size = ?, strata = ? WHERE item = ?", facts)
    now = queue.source
    terms = (now.digest, now.items, now.questions, now.largest)
    connection.execute("UPDATE source SET digest = ?, items = ?, questions = ?, largest = ?", terms)
    return len(gone)
