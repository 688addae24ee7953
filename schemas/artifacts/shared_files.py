"""Files of one artefact in another: hard links, or copies where a store has none.

File of an artefact -> share_file, link_file -> its entry in the artefact of another run

A published file never changes, so two artefacts can have one file. Each has a name of its own for it: whichever of them
is removed or moved, the other one stays whole.
"""

from __future__ import annotations

import os

from schemas.artifacts import storage
from schemas.artifacts.atomic_files import synchronise_folder
from schemas.artifacts.manifest import File
from schemas.artifacts.writer import Output


def share_file(url: str, file: File, target: Output) -> File:
    """Place a file of the artefact at ``url`` into the folder of a run, and return its entry there.

    A local file is linked, which takes no space; an object is copied by its store. The content is not read, so whoever
    opens the new artefact verifies it.

    Raises:
        QprError: it is gone, or cannot be written.
    """
    path = file.path.partition("/")[2]
    if linked := link_file(url, file, target, path=path):
        return linked
    _copy(storage.join(url, file.path), storage.join(target.run_url, path))
    return _entry(file, target, path)


def link_file(url: str, file: File, target: Output, *, path: str) -> File | None:
    """Link a local file of the artefact at ``url`` and return its entry; None where no hard link can be made.

    Args:
        url: of the artefact.
        file: of it.
        target: the run that gets the file.
        path: of the link in the folder of the run.

    Raises:
        QprError: the folder of the link cannot be made.
    """
    place = storage.join(target.run_url, path)
    is_linked = _link(storage.local_path(storage.join(url, file.path)), storage.local_path(place))
    return _entry(file, target, path) if is_linked else None


def _entry(file: File, target: Output, path: str) -> File:
    return file.model_copy(update={"path": f"{target.run_id}/{path}"})


def _link(source: str | None, place: str | None) -> bool:
    """Return whether a hard link could be made."""
    if source is None or place is None or os.path.islink(source):
        return False
    with storage.explained(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        os.link(source, place)
    except OSError:  # no links on this file system, another file system, another owner, or the source is gone
        return False
    synchronise_folder(os.path.dirname(place))
    return True


def _copy(source: str, place: str) -> None:
    """Copy a file; a remote store does it by itself, without a download."""
    file_system, path = storage.locate(source)
    if storage.local_path(source) is not None:
        storage.write_bytes(place, storage.read_bytes(source))
        return
    with storage.explained(source):
        file_system.cp_file(path, storage.locate(place)[1])
