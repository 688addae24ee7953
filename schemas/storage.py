"""Where bytes live: every path is an fsspec URL, every file appears whole or not at all.

URL -> locate -> file system and path; read_bytes, write_bytes
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import fsspec
from fsspec.implementations.local import LocalFileSystem

from schemas.errors import QprError, UsageError

_REMOTE = frozenset({"aiohttp", "azure", "botocore", "fsspec", "gcsfs", "google", "requests"})
"""The packages whose errors remote file systems raise: no credentials, no such host, no such bucket."""

_STAGED = re.compile(r"(.+)\.[0-9a-f]{8}\.partial")


def locate(url: str) -> tuple[Any, str]:
    """Return the file system of ``url`` and the path on it; a plain path is a local one, ``~`` is expanded.

    Raises:
        UsageError: the path is empty, or its bytes are no text, which no manifest could hold.
        QprError: no file system knows such paths.
    """
    if not url.strip():
        raise UsageError("a path is empty. Name a file or folder")
    try:
        url.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{url!a}: the path is not UTF-8. Rename the file or folder") from error
    try:
        file_system, path = fsspec.core.url_to_fs(os.path.expanduser(url))
    except (ValueError, ImportError) as error:
        raise QprError(f"{url}: cannot open this kind of path: {error}") from error
    return file_system, path


def join(url: str, *parts: str) -> str:
    """Return ``url`` with ``parts`` appended, one slash between two."""
    return "/".join([url.rstrip("/") or "/", *parts])


def exists(url: str) -> bool:
    """Tell whether a file or folder is there."""
    file_system, path = locate(url)
    with explained(url):
        return bool(file_system.exists(path))


def read_bytes(url: str) -> bytes:
    """Return a whole file.

    Raises:
        QprError: it is missing or cannot be read.
    """
    file_system, path = locate(url)
    with explained(url):
        return bytes(file_system.cat_file(path))


def read_start(url: str, count: int) -> bytes:
    """Return the first ``count`` bytes of a file, all of a shorter one.

    Raises:
        QprError: it is missing or cannot be read.
    """
    file_system, path = locate(url)
    with explained(url):
        return bytes(file_system.cat_file(path, start=0, end=count))


def write_bytes(url: str, content: bytes) -> None:
    """Write a whole file; a reader sees the old content or the new, never a part.

    Object stores publish an object when its upload completes. A local file is written beside its place, synchronised
    and renamed.

    Raises:
        QprError: it cannot be written.
    """
    file_system, path = locate(url)
    with explained(url):
        file_system.makedirs(file_system._parent(path), exist_ok=True)
        if isinstance(file_system, LocalFileSystem):
            with replacing(path) as file:
                file.write(content)
        else:
            file_system.pipe_file(path, content)


def check_writable(url: str) -> None:
    """See, without a write, whether a local path could be made; a remote store tells only when it is written to.

    Raises:
        QprError: the folder that is there may not be written to.
    """
    file_system, path = locate(url)
    if isinstance(file_system, LocalFileSystem):
        folder = Path(path)
        while not folder.exists():
            folder = folder.parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise QprError(f"{folder}: permission denied")


def delete(url: str) -> None:
    """Remove a file or a folder with all it holds; nothing happens if there is none."""
    file_system, path = locate(url)
    with explained(url), contextlib.suppress(FileNotFoundError):
        file_system.rm(path, recursive=True)


def children(url: str) -> list[str]:
    """Return the names of what a folder holds, sorted; empty if there is no such folder."""
    file_system, path = locate(url)
    with explained(url):
        try:
            listed = file_system.ls(path, detail=False, refresh=True)
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            raise QprError(f"{url}: is a file, not a folder") from error
        if path in listed and file_system.isfile(path):
            raise QprError(f"{url}: is a file, not a folder")
    names = {entry.rstrip("/").rsplit("/", 1)[-1] for entry in listed}
    return sorted(names - {path.rstrip("/").rsplit("/", 1)[-1]} if path.rstrip("/") in listed else names)


@contextlib.contextmanager
def explained(url: str) -> Iterator[None]:
    """Turn an I/O error inside the block, of whatever file system, into one that names ``url`` and the cause."""
    try:
        yield
    except FileNotFoundError as error:
        raise QprError(f"{url}: no such file. Check the path") from error
    except IsADirectoryError as error:
        raise QprError(f"{url}: is a folder, not a file") from error
    except PermissionError as error:
        raise QprError(f"{url}: permission denied") from error
    except (FileExistsError, NotADirectoryError) as error:
        raise QprError(f"{url}: a part of this path is a file, not a folder") from error
    except OSError as error:
        raise QprError(f"{url}: {error.strerror or error}") from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _REMOTE:
            raise
        raise QprError(f"{url}: {type(error).__name__}: {error}. Check the URL and your access to it") from error


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Open a file beside a local ``path`` that takes its place, synchronised, when the block ends, unless it fails."""
    staged = f"{path}.{secrets.token_hex(4)}.partial"  # process ids of two containers can be equal
    try:
        with open(staged, "wb") as file:
            yield file
        with open(staged, "rb") as file:  # Arrow closes what it compresses into, so it is synchronised from here
            os.fsync(file.fileno())
        os.replace(staged, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(staged)
        raise


def staged_for(name: str) -> str | None:
    """Return the file that one called ``name`` was to replace; only a killed process leaves such a file."""
    found = _STAGED.fullmatch(name)
    return found and found[1]
