"""Writes that replace nothing, or only what the writer has seen: of two at once, one fails and says so.

URL, content -> create; URL, content, what is expected there -> replace; both or `ConflictError`

S3 and memory decide both in one step; local disks, Google's and Azure's stores `create` in one step. Elsewhere a look
comes before the write, and two writes in the same moment may both succeed: there only the claim
(`schemas/artifacts/output_lock/lock.py`) keeps two runs apart.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from schemas.artifacts import storage
from schemas.artifacts.atomic_files import write_atomically
from schemas.errors import QprError

_MEMORY = threading.Lock()
"""Held from the look to the write in memory, which looks and then writes."""

_TRIES = 5
_CONDITIONAL_CONFLICT = "ConditionalRequestConflict"
"""The code with which S3 asks for another try: somebody deleted or wrote the object in the same moment."""


class ConflictError(QprError):
    """Another writer was first."""


def refuse_existing(url: str, *, overwrite: bool) -> None:
    """Refuse a file's place that is taken.

    Raises:
        QprError: there is something and ``overwrite`` is not set.
    """
    if not overwrite and storage.exists(url):
        raise QprError(f"{url}: exists. Choose another --output or add --overwrite")


def write_result(url: str, content: bytes, *, overwrite: bool) -> None:
    """Write the file that a command makes; without ``overwrite`` it replaces nothing that appeared since.

    Raises:
        QprError: it cannot be written, or another one has appeared.
    """
    if overwrite:
        storage.write_bytes(url, content)
        return
    try:
        create(url, content)
    except ConflictError as error:
        raise appeared(url) from error


def appeared(url: str) -> QprError:
    """Return the error about a file that was not there when the command began."""
    return QprError(
        f"{url}: was written by another process while this command ran; it stays, and this command's result is "
        "discarded. Choose another --output or add --overwrite"
    )


def create(url: str, content: bytes) -> None:
    """Write a whole file where there is none.

    Raises:
        ConflictError: there is one.
        QprError: it cannot be written.
    """
    file_system, path = storage.locate(url)
    with storage.explained(url):
        file_system.makedirs(file_system._parent(path), exist_ok=True)
        try:
            if storage.local_path(url) is not None:
                with write_atomically(path, new=True) as file:
                    file.write(content)
            else:
                with _alone(file_system):
                    _pipe(file_system, path, content, mode="create")
        except FileExistsError as error:
            # A library that gets no answer asks again, and then meets what it wrote.
            if storage.read_if_there(url) != content:
                raise ConflictError(f"{url}: exists") from error


def replace(url: str, content: bytes, *, expected: bytes) -> None:
    """Write a whole file in place of the one with the content ``expected``.

    Raises:
        ConflictError: another one is there, or none.
        QprError: it cannot be written.
    """
    file_system, path = storage.locate(url)
    conflict = ConflictError(f"{url}: is no longer what it was")
    with storage.explained(url), _alone(file_system):
        conditions = _conditions(file_system, path)  # seen before the content, so that both are of one version
        if conditions is None or storage.read_if_there(url) != expected:
            raise conflict
        if not conditions:
            storage.write_bytes(url, content)
            return
        try:
            _pipe(file_system, path, content, **conditions)
        except OSError as error:
            found = storage.read_if_there(url)
            if found not in (content, expected):
                raise conflict from error
            if found == expected:
                raise


def _conditions(file_system: Any, path: str) -> dict[str, str] | None:
    """Return what makes the store itself compare; nothing where it cannot, None where there is no file."""
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


def _alone(file_system: Any) -> contextlib.AbstractContextManager[object]:
    return _MEMORY if "memory" in file_system.protocol else contextlib.nullcontext()
