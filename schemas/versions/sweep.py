"""Removal of artefacts that no kept version names.

warehouse -> removable -> folders, sizes -> remove

Versions and refused versions that are kept mark their artefacts, and so do leases of readers. Of the rest a folder is
removable when it is older than the grace time, since a night that is under way has artefacts that no version names yet.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import os
import time
from collections.abc import Hashable
from typing import Final, NamedTuple

from schemas.artifacts import storage
from schemas.artifacts.atomic_files import staged_for
from schemas.artifacts.manifest import MANIFEST
from schemas.artifacts.output_lock.lock import NAMES, held
from schemas.artifacts.output_lock.owner import LockedError
from schemas.artifacts.paths import RUN_FOLDER
from schemas.artifacts.writer import CHECKPOINTS
from schemas.versions.history import REFUSED, VERSIONS, current, numbers, read_version, refused_versions
from schemas.versions.leases import LEASE, LEASES, Lease, leased_paths, remove_expired

FOLDERS: Final = ("datasets", "models", "indexes", "splits", "reports", "certificates")
"""Folders of a warehouse that are swept; events, daily tables and version records never are."""


_RECORDS: Final = ("", VERSIONS, f"{VERSIONS}/{REFUSED}", LEASES)
"""Folders of a warehouse whose files are written one by one, each beside its place first."""


class Removable(NamedTuple):
    """A folder that no kept version names: its path below the warehouse, and the bytes that its removal frees.

    Files with a link elsewhere are not freed; one that several removable folders share counts in the first.
    """

    path: str
    bytes: int


def kept_paths(warehouse: str, keep: int) -> set[str]:
    """Return the paths that the last ``keep`` versions and as many of the refused ones that follow them name.

    Raises:
        QprError: a record is damaged; then nothing may be removed.
    """
    last = numbers(warehouse)[-keep:]
    kept = [read_version(warehouse, number) for number in last]
    refused = [version for version in refused_versions(warehouse) if not last or (version.parent or 0) >= last[0]]
    kept += sorted(refused, key=lambda version: version.created)[-keep:]
    return {artefact.path for version in kept for artefact in version.artefacts}


def artefact_folders(warehouse: str, folder: str) -> list[str]:
    """Return the sorted names of the folders in a folder of artefacts; files beside them are none.

    The state of a certificate's monitor is such a file.
    """
    url = storage.join(warehouse, folder)
    return [name for name in storage.children(url) if storage.is_folder(storage.join(url, name))]


def removable(warehouse: str, *, keep: int, grace: datetime.timedelta, now: datetime.datetime) -> list[Removable]:
    """Return the folders that no kept version names and that are older than the grace time.

    Args:
        warehouse: its URL.
        keep: number of versions to keep, at least 1; the current one is the last of them.
        grace: minimum age of a folder's newest run, by the time in the name of the run or of its checkpoints.
        now: the time, in UTC.

    Raises:
        QprError: a record or a lease is damaged.
    """
    kept = kept_paths(warehouse, keep) | leased_paths(warehouse, now).keys()
    paths = []
    for folder in FOLDERS:
        for name in artefact_folders(warehouse, folder):
            path = f"{folder}/{name}"
            runs = [] if path in kept else _runs(storage.join(warehouse, path))
            if runs and now - _start_of(max(runs)) > grace:
                paths.append(path)
    return [Removable(path, size) for path, size in zip(paths, _freed(warehouse, paths), strict=True)]


def spared(warehouse: str, *, keep: int, now: datetime.datetime) -> list[Lease]:
    """Return the leases without which a folder were removable, one of each version.

    Raises:
        QprError: a record or a lease is damaged.
    """
    kept = kept_paths(warehouse, keep)
    by_version = {lease.version: lease for path, lease in leased_paths(warehouse, now).items() if path not in kept}
    return [by_version[version] for version in sorted(by_version)]


def remove(warehouse: str, folders: list[Removable]) -> None:
    """Remove folders, leases of readers that are gone, and what kills have left: parts of records, empty folders.

    Leases and the current version are read again before each folder, since a reader may have come meanwhile, or a
    rollback from Python. A folder first loses its manifest, so that no reader finds half of an artefact.

    Raises:
        QprError: a lease or the current version is damaged, or a folder cannot be removed.
    """
    remove_expired(warehouse, datetime.datetime.now(datetime.UTC))
    for folder in folders:
        now = current(warehouse)
        kept = {artefact.path for artefact in now[1].artefacts} if now else set()
        if folder.path in kept | leased_paths(warehouse, datetime.datetime.now(datetime.UTC)).keys():
            continue
        url = storage.join(warehouse, folder.path)
        storage.delete_file(storage.join(url, MANIFEST))
        storage.delete(url)
    _remove_partial(warehouse)
    _remove_empty(warehouse)


def _remove_partial(warehouse: str) -> None:
    """Remove the parts of records that a killed process has left, which only local disks have.

    A part that is younger than a lease stays: a reader or a rollback from Python may be writing it.
    """
    for folder in _RECORDS:
        path = storage.local_path(storage.join(warehouse, folder)) if folder else storage.local_path(warehouse)
        for name in [] if path is None else filter(staged_for, storage.children(path)):
            part = storage.join(path or "", name)
            with contextlib.suppress(FileNotFoundError):
                if os.path.isfile(part) and time.time() - os.stat(part).st_mtime > LEASE.total_seconds():
                    storage.delete_file(part)


def _remove_empty(warehouse: str) -> None:
    """Remove the folders of artefacts without a file but the lock of a dead run; a run that begins there makes its own.

    Their age is unknown, and need not be known: a folder in which a living run has its lock is not empty.
    """
    for folder in FOLDERS:
        for name in artefact_folders(warehouse, folder):
            url = storage.join(warehouse, folder, name)
            if NAMES.issuperset(storage.children(url)):
                with contextlib.suppress(LockedError), held(url):
                    pass  # the release removes the file of a dead run
                storage.delete_if_empty(url)


def _runs(url: str) -> list[str]:
    """Return the names of the runs of an artefact, and of the checkpoints that a killed training has left there."""
    names = storage.children(url)
    checkpoints = storage.children(storage.join(url, CHECKPOINTS)) if CHECKPOINTS in names else []
    return [name for name in (*names, *checkpoints) if RUN_FOLDER.match(name)]


def _start_of(run: str) -> datetime.datetime:
    return datetime.datetime.strptime(run[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.UTC)


def _freed(warehouse: str, paths: list[str]) -> list[int]:
    """Return by folder the bytes that the removal of all of them frees."""
    files = [_files(storage.join(warehouse, path)) for path in paths]
    linked = collections.Counter(file.node for of_folder in files for file in of_folder)
    seen = set[Hashable]()
    freed = []
    for of_folder in files:
        # a file with a link outside of these folders stays
        gone = {file.node: file.bytes for file in of_folder if linked[file.node] >= file.links}
        freed.append(sum(size for node, size in gone.items() if node not in seen))
        seen |= gone.keys()
    return freed


class _File(NamedTuple):
    """A file in a folder: its name on the disk, which all links to it share, their number, and its size."""

    node: Hashable
    links: int
    bytes: int


def _files(url: str) -> list[_File]:
    file_system, path = storage.locate(url)
    with storage.explained(url):
        entries = file_system.find(path, detail=True)
        if storage.local_path(url) is None:
            sizes = {name: details["size"] for name, details in entries.items()}
            unknown = [name for name, size in sizes.items() if size is None]  # lists over HTTP have no sizes
            sizes |= zip(unknown, file_system.sizes(unknown), strict=True)
            return [_File(name, 1, size or 0) for name, size in sizes.items()]
        statuses = map(os.stat, entries)
        return [_File((file.st_dev, file.st_ino), file.st_nlink, file.st_size) for file in statuses]
