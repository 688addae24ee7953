"""Cache of verified files, in a folder of the user.

artefact folder -> read_records -> Records; Records -> write_records

A file that has the size, times, inode and device of a file that was verified is trusted to be that file. The cache may
be deleted at any time; one that cannot be read or written is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from typing import Any, NamedTuple

import pydantic

from schemas.artifacts.atomic_files import write_atomically
from schemas.errors import QprError

SETTLED_NS = 2 * 10**9
"""Age of a file's last change from which on it is remembered: a later change has another time on any file system."""

MOST_ARTEFACTS = 200
"""Maximum number of artefacts in the cache; the one that was verified first is forgotten."""


class Stamp(NamedTuple):
    """Attributes of a file; a change of its content changes at least one of them."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Return the stamp of a file."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


class Records(pydantic.BaseModel, extra="forbid"):
    """Verified files of an artefact, and results of checks of their content.

    Attributes:
        files: stamp and SHA-256 by path.
        facts: result of a check by its name and the SHA-256 of the content.
    """

    files: dict[str, tuple[Stamp, str]] = {}
    facts: dict[str, Any] = {}


def read_records(artefact: str) -> Records:
    """Return the records of the artefact at a local path, empty ones if there are none that can be trusted."""
    try:
        opened = os.open(_path(artefact), os.O_RDONLY | os.O_NOFOLLOW)
        with open(opened, "rb") as file:
            _check_owner(os.fstat(opened))
            return Records.model_validate_json(file.read())
    except (OSError, pydantic.ValidationError):
        return Records()


def write_records(artefact: str, records: Records) -> None:
    """Remember the records of the artefact at a local path, for this user alone, if the cache can be written."""
    with contextlib.suppress(OSError, QprError):
        path = _path(artefact)
        folder = os.path.dirname(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _check_owner(os.stat(folder))
        content = records.model_dump_json().encode()
        with write_atomically(path) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
        _forget_oldest(folder)


def _path(artefact: str) -> str:
    """Return the file of an artefact's records.

    Raises:
        FileNotFoundError: the user has no folder.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # relative paths are to be ignored, by the specification of these folders
        base = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        raise FileNotFoundError(base)
    name = hashlib.sha256(os.path.realpath(artefact).encode()).hexdigest()
    return os.path.join(base, "qpr", "verified", f"{name}.json")


def _check_owner(status: os.stat_result) -> None:
    """Check that nobody else can write a file or folder.

    Raises:
        PermissionError: somebody can.
    """
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError


def _forget_oldest(folder: str) -> None:
    with os.scandir(folder) as entries:
        oldest = sorted((entry.stat().st_mtime_ns, entry.path) for entry in entries)[:-MOST_ARTEFACTS]
    for _, path in oldest:
        os.unlink(path)
