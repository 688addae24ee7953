"""Writing an artefact: claimed before the work, published after it, whole or not at all.

files of a run -> write_file -> Output.publish -> manifest.json
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from schemas import storage
from schemas.artefact_paths import RUN_FOLDER
from schemas.errors import QprError
from schemas.manifest import MANIFEST, File, Kind, Manifest, Source, read_manifest, with_article

CHECKPOINTS = "training-checkpoints"
"""The folder of a model where a training keeps what it can go on from; what is published sweeps it away."""


class Output:
    """A place a run writes to: claimed before the work, published after it.

    Args:
        url: the artefact's folder.
        kind: what it will hold.
        overwrite: replace the artefact that is there; it stays readable until the new one is complete.

    Raises:
        QprError: something is there already that may not be replaced.
    """

    def __init__(self, url: str, kind: Kind, *, overwrite: bool = False) -> None:
        refuse_taken(url, kind, overwrite=overwrite)
        self.url, self.kind = url, kind
        self._new = not storage.exists(url)
        self._started = datetime.datetime.now(datetime.UTC)
        self.run_id = f"{self._started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        try:
            self.write("writable", b"", table="")  # an hour's work should not end at a folder that cannot be written
        finally:
            self.abandon()

    @property
    def run_url(self) -> str:
        """Return the folder this run's files go to."""
        return storage.join(self.url, self.run_id)

    @property
    def seconds(self) -> float:
        """Return how long ago the run began."""
        return round((datetime.datetime.now(datetime.UTC) - self._started).total_seconds(), 3)

    def write(self, path: str, content: bytes, *, table: str, rows: int = 0) -> File:
        """Write one file of this run and return what the manifest says of it."""
        return write_file(self.run_url, path, content, table=table, rows=rows)

    def publish(
        self,
        files: list[File],
        *,
        inputs: list[Source],
        configuration: dict[str, Any],
        counters: dict[str, int],
        distributions: Mapping[str, dict[str, float]] | None = None,
    ) -> Manifest:
        """Make ``files`` the artefact: check them, replace the manifest, remove what it no longer lists.

        If that fails the run is abandoned. Old files that cannot be removed are left to the next run.
        """
        try:
            self._check(files)
            manifest = Manifest(
                kind=self.kind,
                run_id=self.run_id,
                created=self._started.isoformat(timespec="seconds"),
                seconds=self.seconds,
                inputs=inputs,
                configuration=configuration,
                counters=dict(sorted(counters.items())),
                distributions=dict(distributions or {}),
                files=sorted(files, key=lambda f: f.path),
            )
            storage.write_bytes(storage.join(self.url, MANIFEST), manifest.model_dump_json(indent=2).encode())
        except BaseException:
            self.abandon()
            raise
        with contextlib.suppress(QprError, OSError):
            self._sweep()
        return manifest

    def abandon(self) -> None:
        """Remove what this run wrote, unless it is published, and the folder if there was none before.

        It follows an error, which is what the user should read, so it raises none of its own.
        """
        with contextlib.suppress(QprError, OSError):
            if self._is_published():
                return
            storage.delete(self.run_url)
            if self._new and not storage.children(self.url):
                storage.delete(self.url)

    def _is_published(self) -> bool:
        """Tell whether readers follow the manifest to this run; a store may have replaced it and the answer got lost.

        Raises:
            QprError: nobody knows. Files that nobody needs do less harm than a manifest without its files.
        """
        url = storage.join(self.url, MANIFEST)
        return storage.exists(url) and self.run_id.encode() in storage.read_bytes(url)

    def _check(self, files: list[File]) -> None:
        for file in files:
            file_system, path = storage.locate(storage.join(self.url, file.path))
            with storage.explained(path):
                if file_system.info(path)["size"] != file.bytes:
                    raise QprError(f"{path}: changed while the run went on. Does another run write to {self.url}?")

    def _sweep(self) -> None:
        for name in storage.children(self.url):
            older_run = RUN_FOLDER.fullmatch(name) and name != self.run_id and name[:16] <= self.run_id[:16]
            if older_run or _is_killed_write(name) or _is_checkpoints(name, self.kind):
                storage.delete(storage.join(self.url, name))


def refuse_taken(url: str, kind: Kind, *, overwrite: bool) -> bool:
    """Return whether an artefact is at ``url`` that a new one of this kind would replace.

    Raises:
        QprError: something is there that may not be replaced.
    """
    names = storage.children(url)
    if MANIFEST in names:
        found = read_manifest(url).kind if overwrite else kind
        if not overwrite or found != kind:
            what = "exists" if found == kind else f"holds {with_article(found)}, not {with_article(kind)}"
            raise QprError(f"{url}: {what}. Choose another --output" + ("" if overwrite else " or add --overwrite"))
        return True
    leftover = [name for name in names if RUN_FOLDER.fullmatch(name) or _is_killed_write(name)]
    if foreign := [name for name in names if name not in leftover and not _is_checkpoints(name, kind)]:
        raise QprError(f"{url}: the folder holds other things ({foreign[0]}). Choose an empty or new --output")
    return False


def _is_killed_write(name: str) -> bool:
    return storage.staged_for(name) == MANIFEST


def _is_checkpoints(name: str, kind: Kind) -> bool:
    return kind == "model" and name == CHECKPOINTS


def write_file(run_url: str, path: str, content: bytes, *, table: str, rows: int = 0) -> File:
    """Write one file of a run from any worker and return what the manifest says of it."""
    file = File(
        path=f"{run_url.rstrip('/').rsplit('/', 1)[-1]}/{path}",
        table=table,
        rows=rows,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    storage.write_bytes(storage.join(run_url, path), content)  # its path was checked first
    return file
