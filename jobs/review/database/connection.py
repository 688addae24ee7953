"""The file that keeps verdicts: an SQLite database that is only ever added to.

path, QueueIdentity -> open_database -> Connection: tables source, items, verdicts, undone, claims
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import os
import sqlite3
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from jobs.review.database.tables import TABLES, check_values
from jobs.review.queues.interface import QueueIdentity
from schemas.errors import QprError

_APPLICATION: Final = 0x71707276
"""Mark of the file format: "qprv"."""

_VERSION: Final = 1
"""Version of the tables; a database of a later one is refused."""

_BEGINNING: Final = b"SQLite format 3\x00"
"""First bytes of every database of SQLite."""

_WAIT_S: Final = 30.0
"""Seconds that a write waits for that of another process."""


class Verdict(NamedTuple):
    """A person's verdict on an item.

    Attributes:
        verdict_id: random name; the same verdict added twice is stored once.
        item: name of the item.
        reviewer: name of the person.
        verdict: one of `jobs.review.queues.interface.VERDICTS`.
        strays: names of the questions that do not belong to the others.
        note: any text.
        judged_at: time, ISO 8601 in UTC.
    """

    verdict_id: str
    item: str
    reviewer: str
    verdict: str
    strays: tuple[str, ...] = ()
    note: str = ""
    judged_at: str = ""


def open_database(path: str, source: QueueIdentity | None = None) -> sqlite3.Connection:
    """Open the database of a queue; it is created if ``source`` is given and there is none.

    Args:
        path: of a local file.
        source: identity of the queue; None: any, and only to read.

    Raises:
        QprError: the file cannot be read or written, is no review database, or has verdicts on another queue.
    """
    if "://" in path:
        raise QprError(f"{path}: a review database is a local file, so that no verdict is lost. Give a path")
    file = Path(path)
    exists = file.exists() and file.stat().st_size > 0
    if source is None and not exists:
        raise QprError(f"{path}: there is no review database. Judge with `qpr review` first, or correct the path")
    if exists and not is_database(path):
        raise QprError(f"{path}: is no review database. Give the path of one; this stays as it is")
    with explained(path):
        if exists:
            with contextlib.closing(_connect(file, writable=False)) as connection:
                _check(path, connection, empty=source is not None)
        connection = _connect(file, writable=source is not None)
        try:
            if source is not None:
                _create(connection, source)
                check_source(path, read_source(connection), source)
        except BaseException:
            connection.close()
            raise
    return connection


def is_database(path: str) -> bool:
    """Return whether a local file begins like one of SQLite."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as opened:
        return opened.read(len(_BEGINNING)) == _BEGINNING


@contextlib.contextmanager
def explained(path: str) -> Iterator[None]:
    """Raise errors of SQLite as one sentence that names the file and the next step.

    Raises:
        QprError: the database cannot be read or written.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if not Path(path).absolute().parent.is_dir():
            advice = "Its folder does not exist. Make it, or correct the path"
        elif "readonly" in text or "unable to open" in text:
            advice = "Nobody can write to it here. Change its permissions, or copy it"
        elif "locked" in text:
            advice = "Another process writes to it. Try again, or end that process"
        elif "full" in text or "I/O" in text:
            advice = "Nothing was stored by this. Free some space, then do it again"
        else:
            advice = "It is damaged or another program's. Restore a copy, or merge an export into a new database"
        raise QprError(f"{path}: {text}. {advice}") from error


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all or nothing inside the block; other writers wait."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def read_source(connection: sqlite3.Connection) -> QueueIdentity:
    """Return the identity of the queue whose verdicts a database has."""
    row = connection.execute("SELECT kind, digest, seed, items, questions, largest FROM source").fetchone()
    return QueueIdentity(*row)


def strata_text(strata: Mapping[str, str]) -> str:
    """Return strata as the database has them."""
    return json.dumps(dict(strata))


@functools.lru_cache(1_000)  # many items have the same few strata
def strata_of(text: str) -> Mapping[str, str]:
    """Return the strata that `strata_text` wrote."""
    return types.MappingProxyType(json.loads(text))


def _strays_of(text: str) -> tuple[str, ...]:
    """Return the names of questions in a JSON list of the database."""
    return () if text == "[]" else tuple(json.loads(text))


def select_verdicts(connection: sqlite3.Connection, where: str) -> list[Verdict]:
    """Return the verdicts that a condition selects, in the order in which they were stored."""
    columns = "verdict_id, item, reviewer, verdict, strays, note, judged_at"
    rows = connection.execute(f"SELECT {columns} FROM verdicts {where} ORDER BY rowid").fetchall()  # noqa: S608  # our own
    return [Verdict._make((*row[:4], _strays_of(row[4]), *row[5:])) for row in rows]


def now() -> str:
    """Return the time in UTC with microseconds, in a form whose order is that of time."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")


def _connect(file: Path, *, writable: bool) -> sqlite3.Connection:
    connect = functools.partial(sqlite3.connect, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    if writable:
        connection = connect(file)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a verdict that was confirmed survives a power cut
        return connection
    # Without write access SQLite cannot make the file of shared memory that WAL needs; then nobody writes either.
    alone = not os.access(file, os.W_OK) or not os.access(file.parent, os.W_OK)
    log = file.with_name(f"{file.name}-wal")
    immutable = "&immutable=1" if alone and not (log.exists() and log.stat().st_size) else ""
    return connect(f"{file.absolute().as_uri()}?mode=ro{immutable}", uri=True)


def _create(connection: sqlite3.Connection, source: QueueIdentity) -> None:
    with transaction(connection):
        if connection.execute("PRAGMA schema_version").fetchone() != (0,):
            return
        for statement in TABLES.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        connection.execute("INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?)", (*source, now()))
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def _check(path: str, connection: sqlite3.Connection, *, empty: bool) -> None:
    """Refuse a database of another program, of a newer version, or a damaged one; perhaps accept an empty one.

    A colleague's database may come from anywhere: a view can have rows without end, and a trigger changes verdicts.
    """
    if empty and connection.execute("PRAGMA schema_version").fetchone() == (0,):
        return  # another process creates it in this moment
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise QprError(f"{path}: is a database of another program. Give another path; the file stays as it is")
    if version > _VERSION:
        raise QprError(f"{path}: was written by a newer qpr. Install that, or give another --database")
    if connection.execute("SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone():
        raise QprError(f"{path}: has a view or a trigger, which no qpr makes. Ask for an export, and merge that")
    [fault, *_] = connection.execute("PRAGMA quick_check(1)").fetchone()
    if fault != "ok":
        raise QprError(f"{path}: is damaged: {fault.splitlines()[-1]}. Restore a copy; verdicts in an export are kept")
    check_values(path, connection)


def check_source(path: str, stored: QueueIdentity, source: QueueIdentity) -> None:
    """Refuse a database with verdicts on another queue.

    Args:
        path: of the database.
        stored: queue of its verdicts.
        source: queue of the command.

    Raises:
        QprError: they differ.
    """
    if stored == source:
        return
    if stored.kind != source.kind:
        raise QprError(
            f"{path}: has verdicts on {stored.kind}, not {source.kind}. Give --queue {stored.kind}, or another "
            "--database"
        )
    if stored.digest != source.digest:
        thing = "requests file" if stored.kind == "requests" else "dataset"
        raise QprError(
            f"{path}: has verdicts on another {thing}, with digest {stored.digest[:16]}, not {source.digest[:16]}. "
            "Give that one, or another --database"
        )
    raise QprError(f"{path}: has verdicts in the order of --seed {stored.seed}. Give that seed, or another --database")
