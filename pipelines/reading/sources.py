"""Input files: paths and patterns resolved to existing files.

paths, globs and URLs -> expand -> one `Source` per file
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

from fsspec.implementations.local import LocalFileSystem

from schemas.artifacts import manifest, storage
from schemas.errors import QprError, UsageError
from schemas.quantities import counted, shortened

Format = Literal["jsonl", "csv", "tsv", "parquet"]
Compression = Literal["gzip", "zstd"]

FORMATS: Final[dict[str, Format]] = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "csv": "csv",
    "tsv": "tsv",
    "parquet": "parquet",
}
WITHOUT_TEXT: Final[frozenset[Format]] = frozenset({"parquet"})
"""Formats that have an encoding and a compression of their own."""

COMPRESSIONS: Final[dict[str, Compression]] = {"gz": "gzip", "zst": "zstd"}
_SHOWN_REPEATS: Final = 3  # in a note
_PIECE_BYTES: Final = 1 << 20  # hashed at a time
_GLOB: Final = re.compile(r"[*?\[]")
PACKED: Final = frozenset({"bz2", "xz", "lzma", "lz4", "br", "zip", "7z", "tar", "tgz"})
"""Endings of compressed files and archives that are not read."""

EXPORT_TABLE: Final = "Write its table as CSV, as by sqlite3 -header -csv FILE 'SELECT * FROM TABLE' > table.csv"
"""Next step where a file is a database."""

WRITE_ROWS: Final = "Write its rows as CSV, JSON Lines or Parquet"
_UNREADABLE: Final = {
    **dict.fromkeys(("xlsx", "xlsm", "xls", "ods"), "a spreadsheet cannot be read. Save the sheet as CSV UTF-8"),
    **dict.fromkeys(("sqlite", "sqlite3", "db", "db3"), f"a database cannot be read. {EXPORT_TABLE}"),
    **dict.fromkeys(("xml", "html", "avro", "orc", "arrow", "feather"), f"its format cannot be read. {WRITE_ROWS}"),
}

_ENDING: Final = re.compile(rf"\.({'|'.join(FORMATS)})(\.({'|'.join(COMPRESSIONS)}))?$", re.IGNORECASE)
KNOWN: Final = "".join(f".{name}, " for name in FORMATS) + "all except the last also with .gz or .zst"


@dataclasses.dataclass(frozen=True)
class Source:
    """One input file, or a part of one; small, so that a runner can send it to a worker.

    Attributes:
        url: its path as typed by the user; manifests and messages show it.
        bytes: stored size.
        format: format of its rows.
        compression: compression by its suffix.
        groups: first row group to read of a Parquet file and the one after the last; None: all.
        delimiter: delimiter of the cells of CSV and TSV; None: found in the file.
        encoding: encoding of text without a byte-order mark, a name of Python's `codecs`; None: UTF-8.
        path: the absolute path of a local file, so that a worker with another working folder finds it.
    """

    url: str
    bytes: int
    format: Format
    compression: Compression | None = None
    groups: tuple[int, int] | None = None
    delimiter: str | None = None
    encoding: str | None = None
    path: str = dataclasses.field(default="", compare=False)

    @property
    def location(self) -> str:
        """Return the path or URL to open."""
        return self.path or self.url

    @property
    def is_text(self) -> bool:
        """Return whether the file has lines of text."""
        return self.format not in WITHOUT_TEXT


def only_file(path: str, *, option: str) -> Source:
    """Return the file of a path, or of a glob that matches one.

    Raises:
        UsageError: there are several; the message begins with the option.
        QprError: there is none, or it is empty, a folder or of an unknown format.
    """
    [source, *more] = expand([path])
    if more:
        raise UsageError(f"{option} {path}: are {counted(1 + len(more), 'file')}. Give one")
    return source


def expand(
    patterns: Sequence[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    note: Callable[[str], None] | None = None,
) -> list[Source]:
    """Return the files of paths, globs and fsspec URLs, each once, the files of a glob sorted.

    Args:
        patterns: paths, globs and URLs as typed by the user.
        delimiter: of the CSV and TSV files among them; None: found in each.
        encoding: of the text files among them; None: UTF-8.
        note: receives one line if a file is given more than once.

    Raises:
        QprError: a pattern matches nothing, or a file is empty, a folder or of an unknown format.
    """
    files: dict[str, Source] = {}
    repeated: list[str] = []
    for source in (source for pattern in patterns for source in _matches(pattern)):
        identity = identity_of(source.location)
        if identity in files:
            repeated.append(
                f"{source.url} is {files[identity].url}" if source.url != files[identity].url else source.url
            )
        else:
            character = delimiter if source.format in ("csv", "tsv") else None
            name = encoding if source.is_text else None
            files[identity] = dataclasses.replace(source, delimiter=character, encoding=name)
    if not files:
        raise QprError("no input file is given. Name at least one")
    if repeated and note:
        note(f"Given more than once, read once: {shortened(repeated, _SHOWN_REPEATS)}")
    return list(files.values())


def dataset_folders(pattern: str) -> list[str]:
    """Return the folder at a path, or all folders that a glob matches where it matches no file; else none.

    Raises:
        QprError: nothing is at a path, or the store does not answer.
    """
    file_system, path = storage.locate(pattern)
    with storage.explained(pattern):
        if storage.exists(pattern):
            return [pattern] if file_system.isdir(path) else []
        if not _GLOB.search(path):
            raise QprError(f"{pattern}: no such dataset or file. Check the path, or make a dataset with `qpr clusters`")
        matches = sorted(file_system.glob(path))
        if not all(map(file_system.isdir, matches)):
            return []
    return [_url_of(match, pattern, file_system) for match in matches]


def identity_of(url: str) -> str:
    """Return one name for all spellings of a file or folder: links resolved, or the URL as its store writes it.

    Raises:
        QprError: there is no file system for such paths.
    """
    file_system, path = storage.locate(url)
    name = os.path.realpath(path) if isinstance(file_system, LocalFileSystem) else path
    return str(file_system.unstrip_protocol(name))


def digest_input(source: Source) -> manifest.Source:
    """Return the entry of an input file in a manifest, with the SHA-256 of its stored bytes.

    This reads the file a second time, 0.6 s a gigabyte on a processor with instructions for SHA-256. The checksum of a
    store would cost nothing, but that of an upload in parts depends on the size of the parts.

    Raises:
        QprError: the file cannot be read.
    """
    file_system, path = storage.locate(source.location)
    digest = hashlib.sha256()
    with storage.explained(source.url), file_system.open(path, "rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    return manifest.Source(url=source.url, bytes=source.bytes, digest=digest.hexdigest())


def format_of(url: str) -> tuple[Format, Compression | None]:
    """Return the format and compression of a file by its name.

    Raises:
        QprError: the suffix is unknown.
    """
    stem, _, suffix = url.rsplit("/", 1)[-1].lower().rpartition(".")
    if compression := COMPRESSIONS.get(suffix):
        suffix = stem.rpartition(".")[2]
    kind = FORMATS.get(suffix)
    if suffix in _UNREADABLE:
        raise QprError(f"{url}: {_UNREADABLE[suffix]}")
    if kind in WITHOUT_TEXT and compression:
        raise QprError(f"{url}: a packed Parquet file is not read. Unpack it; if not packed, rename it to .parquet")
    if kind is None:
        step = "Unpack it, into a file that ends" if suffix in PACKED else "Rename it to end"
        raise QprError(f"{url}: its name shows no known format. {step} in one of {KNOWN}")
    return kind, compression


def _matches(pattern: str) -> Iterator[Source]:
    file_system, path = storage.locate(pattern)
    with storage.explained(pattern):
        if storage.exists(pattern):  # checked before globs, since a file's name may contain [ or ?
            yield _source(pattern, file_system, path)
            return
        files = sorted(p for p in file_system.glob(path) if not file_system.isdir(p)) if _GLOB.search(path) else []
    if not files:
        raise QprError(f"{pattern}: no file matches. Check the path, and put a pattern in quotes for the shell")
    for file in files:
        yield _source(_url_of(file, pattern, file_system), file_system, file)


def _url_of(match: str, pattern: str, file_system: Any) -> str:
    """Return the URL of a match of a glob; a local one begins as the glob was typed."""
    is_local = isinstance(file_system, LocalFileSystem)
    return _as_typed(pattern, match) if is_local else str(file_system.unstrip_protocol(match))


def _as_typed(pattern: str, path: str) -> str:
    """Return a match of a local pattern as a path that begins like the pattern."""
    first = _GLOB.search(pattern)
    typed = pattern[: pattern.rfind("/", 0, first.start() if first else None) + 1]
    _, folder = storage.locate(typed or ".")
    return typed + os.path.relpath(path, folder)


def _source(url: str, file_system: Any, path: str) -> Source:
    info = file_system.info(path)
    if info["type"] == "directory":
        raise QprError(f"{url}: is a folder. Name its files, such as {storage.join(url, _pattern_in(url))}")
    if info["type"] == "other":
        raise QprError(f"{url}: is a pipe or a device, but files are read twice. Write it to a file first")
    kind, compression = format_of(url)
    if info["size"] == 0:
        raise QprError(f"{url}: the file is empty (0 bytes). Copy it again or leave it out")
    local = path if isinstance(file_system, LocalFileSystem) else ""
    return Source(url=url, bytes=int(info["size"] or 0), format=kind, compression=compression, path=local)


def _pattern_in(folder: str) -> str:
    """Return a pattern for the files of a folder: the ending of the first one with a known format."""
    endings = filter(None, map(_ENDING.search, storage.children(folder)))
    return next((f"*{ending[0]}" for ending in endings), "*.jsonl")
