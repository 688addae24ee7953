"""Erasure from a review database: notes with an erased question, and its name among the strays.

path, Erasure -> erase_from_review -> counts of what was erased; path, datasets -> dataset_of -> the dataset judged
files, Erasure -> _requests_without -> RequestQueue of the requests that are left; file -> check_databases_of
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import sqlite3
from collections.abc import Collection, Iterator, Sequence, Set
from pathlib import Path
from typing import Any, Final

from jobs.display.console import warn
from jobs.review.database.connection import explained, is_database, open_database, read_source, strata_text, transaction
from jobs.review.queues.clusters import ClusterQueue
from jobs.review.queues.interface import Queue, QueueIdentity
from jobs.review.queues.requests import RequestQueue
from jobs.workflows.erasure.datasets import clusters_left
from jobs.workflows.erasure.text_files import erase_from_file
from pipelines.calibration.verdicts.verdict_file import cluster_name
from pipelines.privacy.erase import Erasure
from pipelines.privacy.mentions import Mentions
from schemas.artifacts import storage
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


def erase_from_review(
    path: str, erasure: Erasure, dataset: str | None, files: Sequence[str], *, dry_run: bool
) -> dict[str, Any]:
    """Erase questions from a database of verdicts; return how many verdicts and judged items had them.

    The database is written again whole, so nothing is left in free pages. Verdicts stay, except those on clusters or
    requests that are gone, and the database belongs to the dataset or requests file without the questions, unless it
    is of pairs.

    Args:
        path: of the database.
        erasure: the questions.
        dataset: URL of the judged dataset, from which the questions were erased; None: the queue stays as it is.
        files: from which the questions are erased too, the judged requests perhaps among them.
        dry_run: count only.

    Raises:
        QprError: the database cannot be read or written, or no request is left.
    """
    with contextlib.closing(open_database(path)) as connection, explained(path):
        source = read_source(connection)
        if dry_run:
            left = _names_left(path, source, erasure, dataset, files)
            gone = 0 if left is None else sum(item not in left for item in _judged_items(connection))
            return _result(path, source, _changed_verdicts(connection, erasure), gone=gone, rewritten=False)
    queue = _queue_without(path, source, erasure, dataset, files)
    with contextlib.closing(open_database(path, source)) as connection, explained(path):
        connection.execute("PRAGMA secure_delete = ON")
        with transaction(connection):
            changed = _changed_verdicts(connection, erasure)
            connection.executemany("UPDATE verdicts SET note = ?, strays = ? WHERE verdict_id = ?", changed)
            gone = _follow(connection, queue) if queue else 0
        for statement in _REWRITE:
            connection.execute(statement)
    return _result(path, source, changed, gone=gone, rewritten=bool(changed or gone))


def check_databases_of(file: str, erasure: Erasure, reviews: Sequence[str]) -> None:
    """Check that no review database beside a requests file loses it by an erasure.

    A database finds its file by the digest, so it follows only in the command that changes the file.

    Args:
        file: URL of a file to erase from, perhaps of requests.
        erasure: the questions.
        reviews: databases from which the questions are erased too.

    Raises:
        QprError: another database in the folder of the file has verdicts on it, or the file cannot be read.
    """
    databases = _databases_of(file, {os.path.realpath(path) for path in reviews})
    if databases and erase_from_file(file, erasure, dry_run=True)["rows"]:
        advice = f"Give --review {shlex.quote(databases[0])} too, or remove that database"
        raise QprError(f"{file}: its requests are judged in {databases[0]}, which could not go on. {advice}")


def _databases_of(file: str, given: Set[str]) -> list[str]:
    """Return the review databases in the folder of a local requests file that have verdicts on it as it is now.

    Args:
        file: URL of the file.
        given: real paths of databases to leave out.
    """
    local = storage.local_path(file)
    if local is None or not file.removesuffix(".gz").endswith(".jsonl"):
        return []
    digests = {}
    for path in sorted(map(str, Path(local).parent.iterdir())):
        with contextlib.suppress(QprError, OSError):  # such as a database of another program
            if is_database(path) and os.path.realpath(path) not in given:
                with contextlib.closing(open_database(path)) as connection, explained(path):
                    source = read_source(connection)
                if source.kind == "requests":
                    digests[path] = source.digest
    if not digests:
        return []
    here = hashlib.sha256(storage.read_bytes(file)).hexdigest()
    return [path for path, digest in digests.items() if digest == here]


def _result(
    path: str, source: QueueIdentity, changed: Sequence[tuple[str, str, str]], *, gone: int, rewritten: bool
) -> dict[str, Any]:
    items = "requests" if source.kind == "requests" else "clusters"
    return {"review": path, "rewritten": rewritten, "verdicts": len(changed), items: gone}


def _changed_verdicts(connection: sqlite3.Connection, erasure: Erasure) -> list[tuple[str, str, str]]:
    """Return note, strays and id of each verdict that changes."""
    mentions = Mentions(erasure)
    names, changed = mentions.names, []
    for name, note, strays in connection.execute("SELECT verdict_id, note, strays FROM verdicts").fetchall():
        listed = json.loads(strays)
        left = [stray for stray in listed if stray not in names]
        if left != listed or mentions.mentions(note):
            changed.append(("" if mentions.mentions(note) else note, json.dumps(left), name))
    return changed


def _queue_without(
    path: str, source: QueueIdentity, erasure: Erasure, dataset: str | None, files: Sequence[str]
) -> Queue | None:
    """Return the queue without the questions; None if it is unchanged or unknown.

    Verdicts on pairs stay those on the dataset before: what it is now has another random sample.
    """
    queue: Queue | None = None
    if source.kind == "requests":
        queue = _requests_without(path, source, erasure, files)
    elif dataset:
        opened = open_dataset(dataset)
        if opened.manifest.digest != source.digest and source.kind == "pairs":
            fault = f"its sample of pairs is of {dataset} as it was before the erasure, and cannot be continued"
            warn(f"{path}: {fault}. Judge the dataset as it is now in another --database")
        elif opened.manifest.digest != source.digest:
            queue = ClusterQueue(opened, source.seed)
    return queue if queue and queue.source.digest != source.digest else None


def _names_left(
    path: str, source: QueueIdentity, erasure: Erasure, dataset: str | None, files: Sequence[str]
) -> Collection[str] | None:
    """Return the names of the items that the queue will have without the questions; None if it stays or is unknown."""
    if source.kind == "requests":
        queue = _requests_without(path, source, erasure, files)
        return queue.places if queue else None
    if source.kind == "clusters" and dataset:
        return set(map(cluster_name, clusters_left(dataset, erasure)))
    return None


def _requests_without(path: str, source: QueueIdentity, erasure: Erasure, files: Sequence[str]) -> Queue | None:
    """Return the queue of the judged requests as their file will be, which is written after the database.

    A file that a killed run has written, or not written any more, is found by either digest.
    """
    for url in (url for url in files if url.removesuffix(".gz").endswith(".jsonl")):
        with _copy_in_memory(url) as copy:
            try:
                before = storage.read_bytes(url)
                storage.write_bytes(copy, before)
                erase_from_file(copy, erasure, dry_run=False)
                after = storage.read_bytes(copy)
            except QprError:  # its own erasure reports it
                continue
            if source.digest not in {hashlib.sha256(content).hexdigest() for content in (before, after)}:
                continue
            try:
                return RequestQueue(copy, source.seed)
            except QprError as error:
                fault = f"has verdicts on {url}, in which no answer to judge is left"
                raise QprError(f"{path}: {fault}. Remove the database") from error
    fault = "has verdicts on a requests file that is not given, or was changed since"
    warn(f"{path}: {fault}. Erase from both in one command, by --file; else judge that again in another --database")
    return None


@contextlib.contextmanager
def _copy_in_memory(url: str) -> Iterator[str]:
    """Yield the URL for a copy of a file, which is gone afterwards; a kill would leave one in a temporary folder."""
    copy = f"memory://erasing/requests.jsonl{'.gz' if url.endswith('.gz') else ''}"
    try:
        yield copy
    finally:
        storage.delete(copy)


def _judged_items(connection: sqlite3.Connection) -> list[str]:
    return [item for [item] in connection.execute("SELECT item FROM items").fetchall()]


def _follow(connection: sqlite3.Connection, queue: Queue) -> int:
    """Make the database that of the queue as it is now; return the number of judged items that are gone."""
    places = {item: queue.places.get(item) for item in _judged_items(connection)}
    gone = [(item,) for item, place in places.items() if place is None]
    verdicts = "SELECT verdict_id FROM verdicts WHERE item = ?"
    connection.executemany(f"DELETE FROM undone WHERE verdict_id IN ({verdicts})", gone)  # noqa: S608
    for table in ("verdicts", "claims", "items"):  # names and conditions are our own
        connection.executemany(f"DELETE FROM {table} WHERE item = ?", gone)  # noqa: S608
    stay = [queue.item(place) for place in places.values() if place is not None]
    facts = [(item.place, item.size, strata_text(item.strata), item.name) for item in stay]
    connection.executemany("UPDATE items SET place = ?, size = ?, strata = ? WHERE item = ?", facts)
    now = queue.source
    terms = (now.digest, now.items, now.questions, now.largest)
    connection.execute("UPDATE source SET digest = ?, items = ?, questions = ?, largest = ?", terms)
    return len(gone)
