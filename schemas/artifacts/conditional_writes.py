"""Conditional writes: create a missing file, or replace one with known content; of two at once, one fails.

URL, content -> create; URL, content, expected content -> replace; each writes or raises `ConflictError`
URL, function of the content -> change

S3, memory and local disks with locks have both as one operation; Google's and Azure's stores have `create`. Elsewhere a
read precedes the write, and two writes in the same moment may both succeed: there only the lock
(`schemas/artifacts/output_lock/lock.py`) keeps two runs apart.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from schemas.artifacts import storage
from schemas.artifacts.atomic_files import lock_replacement, write_atomically
from schemas.artifacts.manifest import MANIFEST
from schemas.artifacts.paths import RUN_FOLDER
from schemas.errors import QprError

_MEMORY = threading.Lock()
"""Held from the read to the write in memory, which has no conditional writes."""

_TRIES = 5
"""Maximum number of requests of a write, with waits of 1.5 s in all, and of changes that other processes overtake."""

_CONDITIONAL = frozenset({"file", "local", "memory", "s3", "s3a", "gs", "gcs", "abfs", "az"})
"""Protocols of the stores that create a file in one operation."""

_CONDITIONAL_CONFLICT = "ConditionalRequestConflict"
"""S3's error for a deletion or write of the object in the same moment; the request is to be repeated."""


_Result = TypeVar("_Result")


class ConflictError(QprError):
    """Another process wrote the file first."""


def refuse_existing(url: str, *, overwrite: bool, option: str = "--output") -> None:
    """Raise an error if a file exists and is not to be replaced, or is a part of an artefact, which never is.

    Args:
        url: of the file.
        overwrite: it may be replaced.
        option: that names it, for the message.

    Raises:
        QprError: the file exists, and ``overwrite`` is not set or it is a manifest or in a run's folder.
    """
    if overwrite and not _is_of_artefact(url):
        return
    if storage.exists(url):
        if overwrite:
            raise QprError(f"{url}: is a file of an artefact, which would be damaged. Choose another {option}")
        raise QprError(f"{url}: exists. Choose another {option} or add --overwrite")


def _is_of_artefact(url: str) -> bool:
    *folders, name = url.split("/")
    return name == MANIFEST or any(map(RUN_FOLDER.fullmatch, folders))


def write_result(url: str, content: bytes, *, overwrite: bool, option: str = "--output") -> None:
    """Write the result of a command; without ``overwrite``, fail if a file has appeared since its start.

    Args:
        url: of the file.
        content: of the file.
        overwrite: replace a file.
        option: that names it, for the message.

    Raises:
        QprError: it cannot be written, or another file has appeared.
    """
    if overwrite:
        storage.write_bytes(url, content)
        return
    try:
        create(url, content)
    except ConflictError as error:
        raise appeared(url, option) from error


def appeared(url: str, option: str = "--output") -> QprError:
    """Return the error about a file that did not exist when the command began."""
    return QprError(
        f"{url}: was written by another process while this command ran; it stays, and this command's result is "
        f"discarded. Choose another {option} or add --overwrite"
    )


def is_conditional(url: str) -> bool:
    """Return whether the store of ``url`` creates a missing file in one operation, so that of two writers one wins."""
    from fsspec.implementations.memory import MemoryFileSystem

    file_system, _ = storage.locate(url)
    return bool(storage.protocols(file_system) & _CONDITIONAL) or isinstance(file_system, MemoryFileSystem)


def create(url: str, content: bytes) -> None:
    """Write a whole file that does not exist.

    Raises:
        ConflictError: it exists.
        QprError: it cannot be written.
    """
    try:
        _create(url, content)
    except QprError as error:
        stored = _content_after(url, error)
        if stored == content:
            return
        if stored is None and not isinstance(error.__cause__, FileExistsError):
            raise
        raise ConflictError(f"{url}: exists") from error


def _create(url: str, content: bytes) -> None:
    file_system, path = storage.locate(url)
    with storage.explained(url):
        storage.make_parent(file_system, path)
        if storage.local_path(url) is not None:
            with write_atomically(path, new=True) as file:
                file.write(content)
        else:
            with _alone(file_system, path):
                _pipe(file_system, path, content, mode="create")


def _content_after(url: str, error: QprError) -> bytes | None:
    """Return the content of a file after a write that failed; None without a file.

    The store may have written the file although its answer was lost: then a library repeats the request, finds its own
    file and reports a conflict. Not every store names the precondition that failed, as S3 does.

    Raises:
        QprError: `error`; the store does not answer.
    """
    try:
        return storage.read_if_there(url)
    except QprError:
        raise error from error.__cause__


def replace(url: str, content: bytes, *, expected: bytes) -> None:
    """Write a whole file in place of the one with the content ``expected``.

    Raises:
        ConflictError: it has other content, or does not exist.
        QprError: it cannot be written.
    """
    file_system, path = storage.locate(url)
    conflict = ConflictError(f"{url}: is no longer what it was")
    with _alone(file_system, path):
        with storage.explained(url):
            conditions = _conditions(file_system, path)  # read before the content, so that both are of one version
        if conditions is None or storage.read_if_there(url) != expected:
            raise conflict
        try:
            if conditions:
                with storage.explained(url):
                    _pipe(file_system, path, content, **conditions)
            else:
                storage.write_bytes(url, content)
        except QprError as error:
            stored = _content_after(url, error)
            if stored == expected:
                raise
            if stored != content:
                raise conflict from error


def change(url: str, changed: Callable[[bytes | None], tuple[bytes, _Result]]) -> _Result:
    """Write a whole file in place of the one at ``url`` or of none, again if another process has changed it meanwhile.

    Args:
        url: of the file.
        changed: returns the new content and a result of the present content, which is None without a file; equal
            content is not written.

    Returns:
        The result for the content that was replaced.

    Raises:
        ConflictError: other processes change it all the time.
        QprError: it cannot be read or written.
    """
    for number in range(_TRIES):
        before = storage.read_if_there(url)
        content, result = changed(before)
        if content == before:
            break
        try:
            create(url, content) if before is None else replace(url, content, expected=before)
        except ConflictError as error:
            if number == _TRIES - 1:
                raise ConflictError(f"{url}: other processes change it all the time. Run this again") from error
        else:
            break
    return result


def _conditions(file_system: Any, path: str) -> dict[str, str] | None:
    """Return the store's own precondition; empty where it has none, None where there is no file."""
    if "s3" not in file_system.protocol:
        return {}
    try:
        return {"IfMatch": file_system.info(path, refresh=True)["ETag"]}
    except FileNotFoundError:
        return None


def _pipe(file_system: Any, path: str, content: bytes, **terms: str) -> None:
    for number in range(_TRIES):
        try:
            file_system.pipe_file(path, content, **terms)
        except OSError as error:
            response = getattr(error.__cause__, "response", None) or {}
            if number == _TRIES - 1 or response.get("Error", {}).get("Code") != _CONDITIONAL_CONFLICT:
                raise
            time.sleep(0.1 * 2**number)
        else:
            return


def _alone(file_system: Any, path: str) -> contextlib.AbstractContextManager[object]:
    from fsspec.implementations.memory import MemoryFileSystem  # by class: a subclass has another protocol

    if "file" in storage.protocols(file_system):
        return lock_replacement(path)
    return _MEMORY if isinstance(file_system, MemoryFileSystem) else contextlib.nullcontext()
