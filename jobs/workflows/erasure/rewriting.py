"""Artefacts written again with some files changed; their manifests name the digests that they had before.

artefact URL, change of a file -> rewrite -> counts of what was erased
"""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, File, Kind, Manifest, read_manifest, read_verified
from schemas.artifacts.output_lock.lock import NAMES, held
from schemas.artifacts.paths import RUN_FOLDER, unlisted_paths
from schemas.artifacts.writer import CHECKPOINTS, Description, Output


class Changed(NamedTuple):
    """A file after its change.

    Attributes:
        content: without any the file is left out.
        rows: of its table; 0 where it holds none.
        erased: counts of what is gone.
    """

    content: bytes
    rows: int
    erased: Mapping[str, int]


Change = Callable[[File, bytes], Changed | None]
"""Returns a file after its change; None: it stays as it is."""

Counters = Callable[[Mapping[str, int], Mapping[str, int]], dict[str, int]]
"""Returns the counters of an artefact after the change: of those before, and of what is gone."""


def rewrite(
    url: str,
    kind: Kind,
    change: Change,
    *,
    dry_run: bool,
    counters: Counters = lambda before, _: dict(before),
) -> collections.Counter[str]:
    """Write an artefact again if a file of it changes; return the counts of what is gone.

    Old files are removed. A killed rewriting leaves the artefact as it was, and the next one completes it.

    Args:
        url: of the artefact.
        kind: of artefact.
        change: of each file.
        dry_run: write nothing.
        counters: of the changed artefact.

    Raises:
        QprError: it is damaged, a run writes to it, it cannot be written, or an old file cannot be removed.
    """
    changes = _changes(url, read_manifest(url, kind), change)
    if changes and not dry_run:
        with rewriting(url, kind) as target:
            manifest = read_manifest(url, kind)
            changes = _changes(url, manifest, change)
            files = []
            for file in manifest.files:
                changed = changes.get(file.path) or Changed(read_verified(url, file), file.rows, {})
                if changed.content:
                    files.append(target.write(inside(file), changed.content, table=file.table, rows=changed.rows))
            target.publish(
                files, **(after_erasure(manifest) | {"counters": counters(manifest.counters, _sum(changes))})
            )
    return _sum(changes)


def after_erasure(before: Manifest) -> Description:
    """Return the description of an artefact that is made of another one by an erasure today."""
    return {
        "inputs": before.inputs,
        "configuration": before.configuration,
        "counters": before.counters,
        "distributions": before.distributions,
        "erased": before.erased_on(),
    }


@contextlib.contextmanager
def rewriting(url: str, kind: Kind) -> Iterator[Output]:
    """Hold an artefact to write it again, or to leave it as it is; afterwards only files of its manifest are there.

    A publication leaves old files that cannot be removed to the next run; here they still have what is erased.

    Args:
        url: of the artefact.
        kind: of artefact.

    Raises:
        QprError: a run writes to it, it cannot be written, or something cannot be removed.
    """
    with Output(url, kind, change=True) as target:
        yield target
    remove_leftovers(url, dry_run=False)


def remove_leftovers(url: str, *, dry_run: bool) -> int:
    """Remove what killed runs left in the folder of an artefact, and the folder if no run completed; return how much.

    Raises:
        LockedError: a run is writing there.
        QprError: something cannot be removed, or the manifest is damaged.
    """
    left = _leftovers(url)
    if dry_run or not left:
        return len(left)
    with held(url):  # a run that is writing there has it
        left = _leftovers(url)
        if not storage.exists(storage.join(url, MANIFEST)):
            storage.delete(url)
            return len(left)
        for path in left:
            storage.delete(storage.join(url, path))
    return len(left)


def _leftovers(url: str) -> list[str]:
    """Return the files and folders of an artefact that are of no complete run, relative to it."""
    names = [name for name in storage.children(url) if name not in NAMES]
    if MANIFEST not in names:
        return names
    listed = {file.path for file in read_manifest(url).files}
    folders = [name for name in names if RUN_FOLDER.fullmatch(name) or name == CHECKPOINTS]
    return [path for folder in folders for path in unlisted_paths(url, folder, listed)]


def inside(file: File) -> str:
    """Return the path of a file in the folder of its run."""
    return RUN_FOLDER.sub("", file.path, count=1).lstrip("/")


def _changes(url: str, manifest: Manifest, change: Change) -> dict[str, Changed]:
    changed = ((file.path, change(file, read_verified(url, file))) for file in manifest.files)
    return {path: after for path, after in changed if after is not None}


def _sum(changes: Mapping[str, Changed]) -> collections.Counter[str]:
    total = collections.Counter[str]()
    for changed in changes.values():
        total.update(changed.erased)
    return total
