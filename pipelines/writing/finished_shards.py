"""Shards that a killed run of the same output finished, which are taken over instead of built again.

shard -> FinishedShards.note -> a marker beside it; markers of killed runs -> FinishedShards.take -> bytes of a shard
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Final, Self

from schemas import __version__
from schemas.artifacts import storage
from schemas.artifacts.manifest import File
from schemas.artifacts.paths import RUN_FOLDER
from schemas.artifacts.writer import Output

_MARKERS: Final = "finished"
"""Folder of the markers in the folder of a run; a run that is published has none."""


@dataclasses.dataclass(frozen=True)
class FinishedShards:
    """The finished shards of a run, and of killed runs before it.

    Attributes:
        run_url: the run's folder.
        killed: folders of killed runs.
        encoder: digest of the model that encodes.
    """

    run_url: str
    killed: tuple[str, ...]
    encoder: str

    @classmethod
    def of(cls, output: Output, encoder: str) -> Self:
        """Return those of an output that this run has locked."""
        runs = [name for name in storage.children(output.url) if RUN_FOLDER.fullmatch(name) and name != output.run_id]
        marked = [name for name in runs if _MARKERS in storage.children(storage.join(output.url, name))]
        return cls(output.run_url, tuple(storage.join(output.url, name) for name in marked), encoder)

    def key(self, trained: bytes, rows: bytes) -> str:
        """Return a digest of all that decides the bytes of a shard: release, encoder, training, rows."""
        parts = (f"{__version__} {self.encoder}".encode(), trained, rows)
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()

    def take(self, path: str, key: str) -> bytes | None:
        """Return the shard that a killed run wrote to a path of its folder, None if none of this key is whole."""
        for folder in self.killed:
            marker = storage.read_if_there(_marker(folder, path))
            if marker is None or not marker.startswith(b"{") or (record := json.loads(marker))["key"] != key:
                continue
            content = storage.read_if_there(storage.join(folder, path))
            if content is not None and hashlib.sha256(content).hexdigest() == record["sha256"]:
                return content
        return None

    def note(self, path: str, key: str, file: File) -> None:
        """Write the marker of a shard after its file."""
        storage.write_bytes(_marker(self.run_url, path), json.dumps({"key": key, "sha256": file.sha256}).encode())

    def forget(self) -> None:
        """Remove the markers of this run, all of whose shards are finished."""
        storage.delete(storage.join(self.run_url, _MARKERS))


def _marker(folder: str, path: str) -> str:
    return storage.join(folder, _MARKERS, f"{path.replace('/', '-')}.json")
