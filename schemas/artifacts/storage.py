"""Reading and writing of whole files at fsspec URLs.

URL -> locate -> file system and path; read_bytes, write_bytes

Reads of local files do without fsspec, whose import takes 0.05 CPU seconds, a tenth of `qpr search`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from pathlib import Path
from typing import Any

from schemas.artifacts.atomic_files import write_atomically
from schemas.artifacts.io_errors import io_fault, is_absence, url_fault
from schemas.artifacts.s3_objects import read_object
from schemas.errors import QprError, UsageError

_URL = re.compile(r"[A-Za-z0-9+.-]*://|.*::|file:|local:|data:", re.DOTALL)
"""Beginnings of a URL; everything else is a local path."""

_S3 = frozenset({"s3", "s3a"})
_BUCKETS = _S3 | {"gs", "gcs", "abfs", "az"}
"""Protocols of stores that have buckets or containers and no folders."""


def local_path(url: str) -> str | None:
    """Return the path of a local file or folder, absolute and with ``~`` expanded; None for one on another store.

    Raises:
        UsageError, QprError: like `locate`.
    """
    if fault := url_fault(url):
        raise UsageError(fault)
    if not _URL.match(url):
        return os.path.join(os.getcwd(), os.path.expanduser(url)).rstrip("/") or "/"
    file_system, path = locate(url)
    return str(path) if "file" in protocols(file_system) else None


def locate(url: str) -> tuple[Any, str]:
    """Return the file system of ``url`` and the path on it; a plain path is a local one, ``~`` is expanded.

    Raises:
        UsageError: the path or URL has a `url_fault`.
        QprError: no file system has such paths.
    """
    import fsspec

    if fault := url_fault(url):
        raise UsageError(fault)
    try:
        file_system, path = fsspec.core.url_to_fs(os.path.expanduser(url))
    except (ValueError, ImportError) as error:
        raise QprError(f"{url}: cannot open this kind of path: {error}") from error
    _drop_stale_lists(file_system, path)
    return file_system, path


def _drop_stale_lists(file_system: Any, path: str) -> None:
    """Remove cached lists of a path: others write there too, and s3fs reports a file as missing that its list lacks."""
    lists = file_system.dircache if protocols(file_system) & _BUCKETS else {}
    if any(entry["name"] == path for entry in lists.get(file_system._parent(path)) or ()):
        lists.pop(path, None)  # not that of its folder: each use of an input file would take another request
    else:
        file_system.invalidate_cache(path)


def protocols(file_system: Any) -> set[str]:
    """Return the names of a file system in URLs."""
    names = file_system.protocol
    return {names} if isinstance(names, str) else set(names)


def join(url: str, *parts: str) -> str:
    """Return ``url`` with ``parts`` appended, one slash between two."""
    return "/".join([url.rstrip("/") or "/", *parts])


def exists(url: str) -> bool:
    """Return whether a file or folder exists.

    Raises:
        QprError: the disk or the store does not answer, or its bucket is missing.
    """
    with explained(url):
        if (local := local_path(url)) is not None:
            return _mode(local) is not None
        file_system, path = locate(url)
        file_system.invalidate_cache(path)  # another process may have removed a file that is listed
        try:
            file_system.info(path)
        except FileNotFoundError as error:
            if is_absence(error):
                return False
            raise
    return True


def is_folder(url: str) -> bool:
    """Return whether there is a folder, with the errors of `exists`, but False in a missing bucket."""
    with explained(url):
        if (local := local_path(url)) is not None:
            return stat.S_ISDIR(_mode(local) or 0)
        file_system, path = locate(url)
        return bool(file_system.isdir(path))


def _mode(path: str) -> int | None:
    """Return the type and permissions of a local file or folder, None if there is neither."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last for a zero byte
        return None


def read_if_there(url: str) -> bytes | None:
    """Return a whole file; None if it does not exist.

    Raises:
        QprError: it cannot be read, or its bucket is missing.
    """
    try:
        return read_bytes(url)
    except QprError as error:
        if is_absence(error.__cause__):
            return None
        raise


def read_bytes(url: str) -> bytes:
    """Return a whole file.

    Raises:
        QprError: it is missing or cannot be read.
    """
    with explained(url):
        if (local := local_path(url)) is not None:
            return Path(local).read_bytes()
        file_system, path = locate(url)
        return read_object(file_system, path) if protocols(file_system) & _S3 else bytes(file_system.cat_file(path))


def read_start(url: str, count: int) -> bytes:
    """Return the first ``count`` bytes of a file, all of a shorter one.

    Raises:
        QprError: it is missing or cannot be read.
    """
    file_system, path = locate(url)
    with explained(url):
        try:
            return bytes(file_system.cat_file(path, start=0, end=count))
        except OSError as error:
            if error.errno != errno.EINVAL or file_system.size(path):  # S3 refuses a range of an empty object
                raise
            return b""


def write_bytes(url: str, content: bytes) -> None:
    """Write a whole file; a reader gets the old content or the new, never a part.

    Object stores publish an object when its upload completes. A local file is written beside its place and renamed.

    Raises:
        QprError: it cannot be written.
    """
    file_system, path = locate(url)
    with explained(url):
        make_parent(file_system, path)
        if "file" in protocols(file_system):
            with write_atomically(path) as file:
                file.write(content)
        else:
            file_system.pipe_file(path, content)


def make_parent(file_system: Any, path: str) -> None:
    """Make the folder of a file that is to be written, but never a bucket: a mistyped name would become a new one.

    To look for a bucket takes rights that credentials for a part of it may lack, and objects need no folder.
    """
    if not protocols(file_system) & _BUCKETS:
        file_system.makedirs(file_system._parent(path), exist_ok=True)


def delete(url: str) -> None:
    """Remove a file or a folder with its content; a missing one is no error, but one that cannot be removed."""
    file_system, path = locate(url)
    with explained(url), contextlib.suppress(FileNotFoundError):
        file_system.rm(path, recursive=True)
        if protocols(file_system) & _S3 and file_system.exists(path):
            for left in file_system.find(path):  # s3fs ignores the errors that the answer to a bulk deletion lists
                file_system.rm_file(left)


def delete_file(url: str) -> None:
    """Remove one file; a missing one is no error."""
    file_system, path = locate(url)
    with explained(url), contextlib.suppress(FileNotFoundError):
        file_system.rm_file(path)


def delete_if_empty(url: str) -> None:
    """Remove an empty folder, which object stores do not have; others stay as they are."""
    file_system, path = locate(url)
    with contextlib.suppress(QprError), explained(url):
        file_system.rmdir(path)


def children(url: str) -> list[str]:
    """Return the sorted names of a folder's files and folders; empty if it does not exist in its bucket."""
    file_system, path = locate(url)
    with explained(url):
        try:
            listed = file_system.ls(path, detail=False, refresh=True)
            is_file = path in listed and file_system.isfile(path)
        except FileNotFoundError as error:
            if not is_absence(error):
                raise
            return []
        except NotADirectoryError:
            is_file = True
    if is_file:
        raise QprError(f"{url}: is a file, not a folder")
    # an object store may have an object for a folder, such as "folder/" by the web console, and lists it in the folder
    return sorted({entry.rstrip("/").rsplit("/", 1)[-1] for entry in listed if entry.rstrip("/") != path.rstrip("/")})


class explained(contextlib.AbstractContextManager[None]):  # noqa: N801, called like a function
    """Turn an I/O error of any file system inside the block into one that names ``url`` and the cause.

    No generator: from Python 3.12 on, one that replaces an error keeps the variables of all callers until a collection.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, QprError) and (fault := io_fault(error)) is not None:
            raise QprError(f"{self._url}: {fault}") from error
