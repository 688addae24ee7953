"""Writing an artefact: locked before the work, published after it, whole or not at all.

files of a run -> write_file -> Output.publish -> manifest.json
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import weakref
from collections.abc import Mapping, Sequence, Set
from typing import Any, NotRequired, Self, TypedDict, Unpack

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.atomic_files import staged_for
from schemas.artifacts.concurrent_reads import read_each
from schemas.artifacts.manifest import MANIFEST, Erased, File, Kind, Manifest, Source, read_manifest
from schemas.artifacts.output_lock.lock import NAMES, OutputLock, acquire
from schemas.artifacts.output_lock.owner import LockedError, Owner, lost_error, new_run_id
from schemas.artifacts.paths import RUN_FOLDER, delete_unlisted, with_article
from schemas.errors import QprError

CHECKPOINTS = "training-checkpoints"
"""The folder of a model or reranker with the checkpoints of its training; publication removes it."""


class Description(TypedDict):
    """Fields of a manifest that a run gives beside its files; those of `schemas.artifacts.manifest.Manifest`."""

    inputs: list[Source]
    configuration: dict[str, Any]
    counters: dict[str, int]
    distributions: NotRequired[Mapping[str, dict[str, float]]]
    erased: NotRequired[Sequence[Erased]]


class Output:
    """The output of a run: locked before the work, published after it.

    The lock ends when the run is published, abandoned or released, at the end of a ``with`` block, and with the
    process.

    Args:
        url: the artefact's folder.
        kind: of artefact.
        overwrite: replace an existing artefact; it stays readable until the new one is complete.
        change: the run changes the artefact that is there, so no error advises another place.

    Raises:
        LockedError: another run is writing there.
        QprError: the folder has content that may not be replaced, or cannot be written to.
    """

    def __init__(self, url: str, kind: Kind, *, overwrite: bool = False, change: bool = False) -> None:
        overwrite |= change
        refuse_taken(url, kind, overwrite=overwrite)  # before a file is written into a folder that is somebody else's
        self.url, self.kind, self._change = url, kind, change
        names = storage.children(url)
        self._new = NAMES.issuperset(names) if names else not storage.exists(url)  # a killed run made it for itself
        self._started = datetime.datetime.now(datetime.UTC)
        self.run_id = new_run_id(self._started)
        try:
            self._lock = acquire(url, Owner.here(self.run_id, self._started))  # fails too in a folder that is read-only
        except LockedError as error:
            raise error if change else error.otherwise("choose another --output") from None
        self._finalizer = weakref.finalize(self, _end, self._lock, url if self._new else None)  # at exit too
        try:
            refuse_taken(url, kind, overwrite=overwrite)
            self._replaces = storage.read_if_there(storage.join(url, MANIFEST))
            self._older = frozenset(filter(RUN_FOLDER.fullmatch, storage.children(url)))
        except BaseException:
            self.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._finalizer.alive:
            self.abandon()

    @property
    def run_url(self) -> str:
        """Return the folder of this run's files."""
        return storage.join(self.url, self.run_id)

    @property
    def seconds(self) -> float:
        """Return the seconds since the run began."""
        return round((datetime.datetime.now(datetime.UTC) - self._started).total_seconds(), 3)

    def write(self, path: str, content: bytes, *, table: str, rows: int = 0) -> File:
        """Write one file of this run and return its entry for the manifest."""
        return write_file(self.run_url, path, content, table=table, rows=rows)

    def manifest(self, files: list[File], **description: Unpack[Description]) -> Manifest:
        """Return the manifest of this run with these files, for reading them before they are published."""
        return Manifest(
            kind=self.kind,
            run_id=self.run_id,
            created=self._started.isoformat(timespec="seconds"),
            seconds=self.seconds,
            inputs=description["inputs"],
            configuration=description["configuration"],
            counters=dict(sorted(description["counters"].items())),
            distributions=dict(description.get("distributions", {})),
            erased=list(description.get("erased", ())),
            files=sorted(files, key=lambda f: f.path),
        )

    def publish(self, files: list[File], **description: Unpack[Description]) -> Manifest:
        """Make ``files`` the artefact: check them, replace the manifest, remove what it no longer lists.

        If that fails the run is abandoned. Old files that cannot be removed are left to the next run.

        Raises:
            QprError: a file has changed, another run has the lock by now, or the folder cannot be written to.
        """
        try:
            self._check_lock()
            self._check(files)
            manifest = self.manifest(files, **description)
            self._place(manifest.content)
        except BaseException:
            self.abandon()
            raise
        with contextlib.suppress(QprError, OSError):
            self._sweep(manifest.content, {file.path for file in files})
        self.release()
        return manifest

    def abandon(self) -> None:
        """Remove the files of this run, unless it is published, and the folder if the run created it.

        It follows an error that the user should read, so it raises none of its own.
        """
        with contextlib.suppress(QprError, OSError):
            if not self._is_published():
                storage.delete(self.run_url)
        self.release()

    def release(self) -> None:
        """Release the lock; the files of this run stay, for a person to read.

        An empty folder that this run created is removed, unless another run has begun in it.
        """
        self._finalizer()

    def _is_published(self) -> bool:
        """Return whether the manifest is this run's: a store may have replaced it though its answer was lost.

        Raises:
            QprError: the store does not answer. Superfluous files do less harm than a manifest without files.
        """
        return self.run_id.encode() in (storage.read_if_there(storage.join(self.url, MANIFEST)) or b"")

    def _check_lock(self) -> None:
        if not self._lock.is_held():
            raise lost_error(self.url, self._lock.owner(), change=self._change)

    def _place(self, manifest: bytes) -> None:
        """Write the manifest if it still is as it was at the time of the lock: missing, or the old one."""
        url = storage.join(self.url, MANIFEST)
        try:
            if self._replaces is None:
                conditional_writes.create(url, manifest)
            else:
                conditional_writes.replace(url, manifest, expected=self._replaces)
        except conditional_writes.ConflictError as error:
            raise lost_error(self.url, None, change=self._change) from error

    def _check(self, files: list[File]) -> None:
        for file, size in zip(files, read_each(self._size, files), strict=True):
            if size != file.bytes:
                raise QprError(f"{self.url}/{file.path}: changed while the run went on. Run this again")

    def _size(self, file: File) -> int:
        file_system, path = storage.locate(storage.join(self.url, file.path))
        with storage.explained(path):
            try:
                return int(file_system.info(path)["size"])
            except FileNotFoundError as error:
                raise QprError(f"{path}: was removed while the run went on. Run this again") from error

    def _sweep(self, manifest: bytes, listed: Set[str]) -> None:
        """Remove the files of older runs that are not listed, unless another run has published since.

        A run is older if its folder existed at the time of the lock and its name has an earlier time: then it had
        no lock any more. The folder of a younger run may still be written to.
        """
        if storage.read_if_there(storage.join(self.url, MANIFEST)) != manifest:
            return
        for name in storage.children(self.url):
            older_run = name in self._older and name[:16] <= self.run_id[:16] and name != self.run_id
            if older_run or _is_killed_write(name) or _is_checkpoints(name, self.kind):
                delete_unlisted(self.url, name, listed)


def refuse_taken(url: str, kind: Kind, *, overwrite: bool) -> bool:
    """Return whether ``url`` has an artefact that a new one of this kind would replace.

    Raises:
        QprError: the folder has content that may not be replaced.
    """
    names = storage.children(url)
    if MANIFEST in names:
        existing = read_manifest(url).kind if overwrite else kind
        if not overwrite or existing != kind:
            what = "exists" if existing == kind else f"holds {with_article(existing)}, not {with_article(kind)}"
            raise QprError(f"{url}: {what}. Choose another --output" + ("" if overwrite else " or add --overwrite"))
        return True
    leftover = [name for name in names if RUN_FOLDER.fullmatch(name) or _is_killed_write(name) or name in NAMES]
    if foreign := [name for name in names if name not in leftover and not _is_checkpoints(name, kind)]:
        raise QprError(f"{url}: the folder holds other things ({foreign[0]}). Choose an empty or new --output")
    return False


def _end(lock: OutputLock, folder: str | None) -> None:
    lock.release()
    if folder is not None:
        storage.delete_if_empty(folder)


def _is_killed_write(name: str) -> bool:
    return staged_for(name) == MANIFEST


def _is_checkpoints(name: str, kind: Kind) -> bool:
    return kind in ("model", "reranker") and name == CHECKPOINTS


def write_file(run_url: str, path: str, content: bytes, *, table: str, rows: int = 0) -> File:
    """Write one file of a run from any worker and return its entry for the manifest."""
    file = File(
        path=f"{run_url.rstrip('/').rsplit('/', 1)[-1]}/{path}",
        table=table,
        rows=rows,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    storage.write_bytes(storage.join(run_url, path), content)  # its path was checked first
    return file
