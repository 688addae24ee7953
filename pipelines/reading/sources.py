"""Which files a command reads: patterns a person typed become a list of files that exist.

paths, globs and URLs -> expand -> one `Source` a file
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from fsspec.implementations.local import LocalFileSystem

from schemas import storage
from schemas.errors import QprError

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
COMPRESSIONS: Final[dict[str, Compression]] = {"gz": "gzip", "zst": "zstd"}
KNOWN: Final = "".join(f".{name}, " for name in FORMATS) + "all but the last also with .gz or .zst"


@dataclasses.dataclass(frozen=True)
class Source:
    """One input file, or a part of one; small, so that a runner can send it to a worker.

    Attributes:
        url: where it is, as an fsspec URL or a local path.
        bytes: its size as stored.
        format: how its rows are written.
        compression: how it is packed, by its suffix.
        groups: the first row group to read of a Parquet file and the one to stop before; None: all of the file.
    """

    url: str
    bytes: int
    format: Format
    compression: Compression | None = None
    groups: tuple[int, int] | None = None


def expand(patterns: Sequence[str]) -> list[Source]:
    """Return the files that paths, globs and fsspec URLs name, each once, a glob's files sorted.

    Raises:
        QprError: a pattern matches nothing, names a folder, an empty file or a kind of file that cannot be read.
    """
    found = {name: source for pattern in patterns for name, source in _matches(pattern)}
    if not found:
        raise QprError("no input file given. Name at least one")
    return list(found.values())


def format_of(url: str) -> tuple[Format, Compression | None]:
    """Return what a file's name says about its format and compression.

    Raises:
        QprError: the suffix is not known.
    """
    stem, _, suffix = url.rsplit("/", 1)[-1].lower().rpartition(".")
    compression = COMPRESSIONS.get(suffix)
    if compression:
        suffix = stem.rpartition(".")[2]
    kind = FORMATS.get(suffix)
    if kind is None or (kind == "parquet" and compression):
        raise QprError(f"{url}: cannot tell the format from the name. Known endings: {KNOWN}")
    return kind, compression


def _matches(pattern: str) -> Iterator[tuple[str, Source]]:
    """Yield ``(the file's one full name, source)``; the name serves to find duplicates."""
    file_system, path = storage.locate(pattern)
    with storage.explained(pattern):
        if file_system.exists(path):  # first, since a file's name may hold [ or ?
            yield file_system.unstrip_protocol(path), _source(pattern, file_system, path)
            return
        storage.check_answered(file_system, path)
        files = sorted(p for p in file_system.glob(path) if not file_system.isdir(p)) if _is_glob(path) else []
    if not files:
        raise QprError(f"{pattern}: no file matches. Check the path, and quote a pattern so that the shell leaves it")
    for file in files:
        name = file_system.unstrip_protocol(file)
        url = file if isinstance(file_system, LocalFileSystem) else name
        yield name, _source(url, file_system, file)


def _source(url: str, file_system: Any, path: str) -> Source:
    info = file_system.info(path)
    if info["type"] == "directory":
        raise QprError(f"{url}: is a folder. Name its files, such as {storage.join(url, '*.jsonl')}")
    kind, compression = format_of(url)
    if info["size"] == 0:
        raise QprError(f"{url}: the file is empty (0 bytes). Copy it again or leave it out")
    return Source(url=url, bytes=int(info["size"] or 0), format=kind, compression=compression)


def _is_glob(path: str) -> bool:
    return any(character in path for character in "*?[")
