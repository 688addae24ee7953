"""History of a warehouse: numbered versions, each created once and never changed.

warehouse -> numbers, current, version_at, made_after -> Version; Version -> publish -> versions/NNNNNNNN.json

The highest number is current. A new number is created only where it does not exist, in one operation of the store, so
of two writers one wins and the other reads the history again. Where a store has no such operation, a lock keeps two
writers apart.
"""

from __future__ import annotations

import contextlib
import datetime
import re

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.output_lock.lock import held
from schemas.errors import QprError, UsageError
from schemas.versions.version import Version, check_artefact, parse_version, stamp

VERSIONS = "versions"
REFUSED = "refused"
"""Folder of the records that the gate refused."""

_NUMBER = re.compile("[0-9]{1,8}")
_NAME = re.compile(r"([0-9]{8})\.json")


def file_of(warehouse: str, number: int) -> str:
    """Return the URL of a version's record."""
    return storage.join(warehouse, VERSIONS, f"{number:08d}.json")


def numbers(warehouse: str) -> list[int]:
    """Return the numbers of all versions, ascending."""
    matches = map(_NAME.fullmatch, storage.children(storage.join(warehouse, VERSIONS)))
    return sorted(int(match[1]) for match in matches if match)


def read_version(warehouse: str, number: int) -> Version:
    """Return a version by its number.

    Raises:
        QprError: there is none, or its record is damaged.
    """
    url = file_of(warehouse, number)
    content = storage.read_if_there(url)
    if content is None:
        existing = numbers(warehouse)
        listed = f"There are {existing[0]} to {existing[-1]}" if existing else "There is none yet; run `qpr nightly`"
        raise QprError(f"{warehouse}: has no version {number}. {listed}")
    return parse_version(content, url)


def current(warehouse: str) -> tuple[int, Version] | None:
    """Return the number and the record of the current version; None before the first.

    Raises:
        QprError: its record is damaged.
    """
    existing = numbers(warehouse)
    return (existing[-1], read_version(warehouse, existing[-1])) if existing else None


def version_at(warehouse: str, at: str | None) -> tuple[int, Version]:
    """Return the version with a number, that of a date, or for None the current one.

    The version of a date is the newest that a night has made of data up to it. A rollback, whose data end earlier than
    those of the version that it replaced, is that of a date only where no such version is left.

    Raises:
        UsageError: `at` is neither a number nor a date.
        QprError: there is none.
    """
    if at is None:
        if (latest := current(warehouse)) is None:
            raise QprError(f"{warehouse}: has no version yet; run `qpr nightly`")
        return latest
    if isinstance(date := number_or_date(at), int):
        return date, read_version(warehouse, date)
    rollback: tuple[int, Version] | None = None
    for number in reversed(numbers(warehouse)):
        version = read_version(warehouse, number)
        if version.date <= date and version.rollback_of is None:
            return number, version
        if version.date <= date and rollback is None:
            rollback = number, version
    if rollback is None:
        raise QprError(f"{warehouse}: has no version of {date} or before. `qpr versions` lists them")
    return rollback


def number_or_date(at: str) -> int | datetime.date:
    """Return the number of a version, or the date of one.

    Raises:
        UsageError: `at` is neither.
    """
    if _NUMBER.fullmatch(at):
        return int(at)
    try:
        return datetime.date.fromisoformat(at)
    except ValueError as error:
        raise UsageError(f"{at}: is neither the number of a version nor a date such as 2026-11-20") from error


def made_after(warehouse: str, version: Version) -> tuple[int, Version] | None:
    """Return the version that a night began with when it made the artefacts of this one; None for the first night.

    A rollback has the artefacts of an older version, and a version with a new certificate those of the one before.

    Raises:
        QprError: a record is damaged.
    """
    while (number := version.rollback_of or version.parent) is not None:
        earlier = read_version(warehouse, number)
        if (earlier.index, earlier.inputs) != (version.index, version.inputs):
            return number, earlier
        version = earlier
    return None


def publish(warehouse: str, version: Version) -> int:
    """Write a record as the version after its parent and return its number.

    Raises:
        ConflictError: another writer has published since the parent was read.
        QprError: the store cannot be written to, or another writer is there and the store has no conditional writes.
    """
    number = (version.parent or 0) + 1
    folder = storage.join(warehouse, VERSIONS)
    with contextlib.nullcontext() if conditional_writes.is_conditional(folder) else held(folder):
        existing = numbers(warehouse)
        if existing and existing[-1] >= number:
            raise _published(warehouse, existing[-1])
        try:
            conditional_writes.create(file_of(warehouse, number), version.model_dump_json(indent=2).encode())
        except conditional_writes.ConflictError as error:
            raise _published(warehouse, number) from error
    return number


def _published(warehouse: str, number: int) -> conditional_writes.ConflictError:
    return conditional_writes.ConflictError(
        f"{warehouse}: version {number} was published by another command meanwhile. Run this again; finished steps are "
        "used again"
    )


def roll_back(warehouse: str, to: int) -> int:
    """Publish a version that equals an older one and return its number.

    Raises:
        QprError: there is no such version, it is the current one, or an artefact of it is gone.
    """
    older = read_version(warehouse, to)
    newest = numbers(warehouse)[-1]
    if to == newest:
        advice = "Give the number of an older one; `qpr versions` lists them"
        raise QprError(f"{warehouse}: version {to} is the current one already. {advice}")
    for artefact, kind in older.artefacts.items():
        check_artefact(warehouse, artefact, kind, version=f"version {to}")
    # questions that newer versions have held out stay out of later trainings
    splits = read_version(warehouse, newest).splits
    changed = {**stamp(), "parent": newest, "rollback_of": to, "changes": {}, "splits": splits}
    return publish(warehouse, older.model_copy(update=changed))


def keep_refused(warehouse: str, version: Version) -> None:
    """Write the record of a refused version for inspection."""
    name = f"{version.date}-{version.inputs[:12]}.json"
    storage.write_bytes(storage.join(warehouse, VERSIONS, REFUSED, name), version.model_dump_json(indent=2).encode())


def refused_versions(warehouse: str) -> list[Version]:
    """Return the refused versions, by date."""
    return [read_refused(url) for url in refused_files(warehouse)]


def refused_files(warehouse: str) -> list[str]:
    """Return the URLs of the records of refused versions, by date."""
    folder = storage.join(warehouse, VERSIONS, REFUSED)
    return [storage.join(folder, name) for name in storage.children(folder) if name.endswith(".json")]


def read_refused(url: str) -> Version:
    """Return the refused version of a record.

    Raises:
        QprError: the record is damaged.
    """
    return parse_version(storage.read_bytes(url), url)
