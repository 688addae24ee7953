"""Paths of an artefact's files: plain names below the folder of its run, and links that stay in the artefact.

path in a manifest -> checked_path -> path; artefact URL, path -> check_place; listed paths -> delete_unlisted
argument of a program, a text or `pathlib.Path` -> url_text -> URL

An artefact may come from anywhere. Its content must not make a reader open, or a copy write, a file outside its folder.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator, Set
from pathlib import Path

from schemas.artifacts import storage
from schemas.errors import QprError, UsageError

RUN_FOLDER = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}")
"""The name of a run's folder: its start, and a random number."""

WAREHOUSE_FILE = "warehouse.json"
"""The name of a file that every warehouse has, and no artefact."""

LONGEST_PATH = 1_000
"""Characters of a path; file systems allow 255 bytes of a name and some 4,000 of a path."""

_SEGMENT = re.compile(r"[\w.+=@,() -]+")
"""A name without the characters that some file system interprets: ``\\``, ``:``, ``%``, ``*``, control characters."""


def checked_path(path: str) -> str:
    """Return the path of a file relative to its artefact.

    Raises:
        ValueError: it is absolute, leads out of the folder, or has characters that some file system interprets.
    """
    segments = path.split("/")
    if len(path) > LONGEST_PATH or len(segments) < 2:
        raise ValueError(f"a path is a folder and a name, {LONGEST_PATH:,} characters at most, got {path[:60]!a}")
    for segment in segments:
        if not _SEGMENT.fullmatch(segment) or not segment.strip(". "):
            raise ValueError(f"a path holds names of files and folders alone, got {segment[:60]!a} in {path[:60]!a}")
    return path


def check_place(url: str, path: str) -> int | None:
    """Check that a file is inside the artefact at ``url`` and return its size, None on remote stores.

    Remote stores have no links, so only local files are checked.

    Args:
        url: the artefact's folder, which may be a link itself.
        path: of the file, as of `checked_path`.

    Raises:
        QprError: the file, or a folder of its path, is a link that leads out of the artefact, or it is no regular file.
    """
    place = _check_links(url, path)
    if place is None or not os.path.exists(place):
        return None  # the error of reading it names the cause
    with storage.explained(place):
        status = os.stat(place)
    if stat.S_ISDIR(status.st_mode):
        raise QprError(f"{place}: is a folder, not a file. Fetch the artefact again")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe would wait for ever
        raise QprError(f"{place}: is a pipe or a device, not a file. Fetch the artefact again")
    return status.st_size


def _check_links(url: str, path: str) -> str | None:
    """Return the local place of a file or folder of the artefact at ``url``, None on remote stores.

    Raises:
        QprError: it, or a folder of its path, is a link that leads out of the artefact.
    """
    folder = storage.local_path(url)
    if folder is None:
        return None
    place, root = folder, os.path.realpath(folder)
    for segment in path.split("/"):
        place = os.path.join(place, segment)
        if os.path.islink(place) and not _is_within(os.path.realpath(place), root):
            raise QprError(f"{place}: is a link that leads out of {url}. Put the file itself there")
    return place


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def delete_unlisted(url: str, path: str, listed: Set[str]) -> None:
    """Remove a file or folder of the artefact at ``url``, except the listed files.

    Args:
        url: the artefact's folder.
        path: of the file or folder, relative to it.
        listed: paths of files to keep.

    Raises:
        QprError: something cannot be removed.
    """
    for unlisted in [*unlisted_paths(url, path, listed)]:
        storage.delete(storage.join(url, unlisted))


def unlisted_paths(url: str, path: str, listed: Set[str]) -> Iterator[str]:
    """Yield the file or folder of an artefact, or what is in the folder, without the listed files.

    Args:
        url: the artefact's folder.
        path: of the file or folder, relative to it.
        listed: paths of files to leave out.

    Raises:
        QprError: a folder is a link that leads out of the artefact: files outside would be among those to remove.
    """
    if path in listed:
        return
    if not any(kept.startswith(f"{path}/") for kept in listed):
        yield path
        return
    _check_links(url, path)
    for name in storage.children(storage.join(url, path)):
        yield from unlisted_paths(url, f"{path}/{name}", listed)


def why_no_artefact(url: str, noun: str, how: str) -> str:
    """Return the cause and the next step of an error for a place without a manifest.

    Args:
        url: the place.
        noun: kind of artefact that should be there.
        how: sentence on how to make one.
    """
    if storage.exists(storage.join(url, WAREHOUSE_FILE)):
        return (
            f"a warehouse, not {with_article(noun)}. Give it as --warehouse where the command has this option, or give "
            f"the {noun} of a version N, which `qpr versions --warehouse {shlex.quote(url)} --at N` shows"
        )
    state = "has no manifest.json, so no run has completed there" if storage.exists(url) else "does not exist"
    return f"not {with_article(noun)}: it {state}{how}"


def with_article(noun: str) -> str:
    """Return the noun after "a" or "an"."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def public_name(url: str) -> str:
    """Return an address for readers elsewhere: a card is published, and local absolute paths hold names of people."""
    kind, local = url[: len(url) - len(url.removeprefix("st:"))], url.removeprefix("st:").removeprefix("file://")
    return kind + (Path(local).name if Path(local).is_absolute() else local)


def url_text(url: object) -> str:
    """Return the text of a URL, or of a path such as `pathlib.Path`.

    Raises:
        UsageError: it is neither a str nor such a path.
    """
    text = os.fspath(url) if isinstance(url, str | os.PathLike) else None
    if not isinstance(text, str):
        raise UsageError(f"a path has to be a str or a Path, got {type(url).__name__}. Convert it to str")
    return text


def optional_url(url: object) -> str | None:
    """Return `url_text`; None of None and of an empty text."""
    return None if url is None or (isinstance(url, str) and not url) else url_text(url)
