"""Files of an artefact, verified against its manifest; local ones are mapped into memory and verified once.

artefact URL -> VerifiedFiles.read -> bytes, or mapped memory; contents -> VerifiedFiles.fact -> result of a check

The digest of a local file is computed at its first opening and remembered (`verification_cache`), as are the results of
checks that depend on the content alone. A mapped file must stay as it is while it is open. Runs never change a
published file; they write others beside it.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from schemas.artifacts import storage
from schemas.artifacts.manifest import File, check_digest, read_verified
from schemas.artifacts.paths import check_place
from schemas.artifacts.verified_files.verification_cache import SETTLED_NS, Records, Stamp, read_records, write_records

Content = bytes | memoryview
"""A whole file; mapped memory is read-only."""


class MappedFile(mmap.mmap):
    """A file mapped into memory, read-only, that can be read without its pages becoming resident, too.

    Attributes:
        descriptor: of the same file, whatever is at its path by now.
    """

    descriptor: int

    @classmethod
    def of(cls, file: BinaryIO) -> MappedFile:
        """Map an opened file, which may be closed then."""
        mapped = cls(file.fileno(), 0, access=mmap.ACCESS_READ)
        mapped.descriptor = os.dup(file.fileno())
        weakref.finalize(mapped, os.close, mapped.descriptor)
        return mapped


class VerifiedFiles:
    """The files of one artefact.

    Args:
        url: of the artefact.
        verify: verify files again that have been verified before.
    """

    def __init__(self, url: str, *, verify: bool = False) -> None:
        self.url = url
        self.verify = verify
        self._local = storage.local_path(url)
        self._remembered = Records() if verify or self._local is None else read_records(self._local)
        self._current = Records()
        self._checked: list[mmap.mmap] = []

    def read(self, file: File, *, by_rows: bool = False) -> Content:
        """Return the content of a file.

        Args:
            file: of the artefact.
            by_rows: map it as a `MappedFile`; Python keeps one descriptor open for every mapping, this another one.

        Raises:
            QprError: it is missing, lies outside the artefact, or its content does not match the manifest.
        """
        if self._local is None or not file.bytes or check_place(self.url, file.path) != file.bytes:
            return read_verified(self.url, file)  # the error of a local one names the cause
        path = storage.join(self._local, file.path)
        with storage.explained(path), open(path, "rb") as opened:
            stamp = Stamp.of(os.fstat(opened.fileno()))
            mapped = MappedFile.of(opened) if by_rows else mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
            remembered = self._remembered.files.get(file.path) == (stamp, file.sha256)
            if not remembered:
                check_digest(self.url, file, _sha256(opened))
                self._checked.append(mapped)
            if remembered or (_is_settled(stamp) and Stamp.of(os.fstat(opened.fileno())) == stamp):
                self._current.files[file.path] = stamp, file.sha256
        return memoryview(mapped)

    def fact(self, check: str, files: Sequence[File], result: Callable[[], Any]) -> Any:
        """Return the result of a check of the content of some files, remembered or computed now.

        Args:
            check: its name and version; a check that changes gets another one.
            files: all files that it reads; `read` has returned them.
            result: returns a value that JSON can represent, or raises an error if the content is wrong.
        """
        name = f"{check} {hashlib.sha256(' '.join(file.sha256 for file in files).encode()).hexdigest()}"
        remembered = self._remembered.facts
        value = self._current.facts[name] = remembered[name] if name in remembered else result()
        return value

    def check(self, check: str, files: Sequence[File], run: Callable[[], object]) -> None:
        """Run a check of the content of some files, unless they have passed it; arguments as of `fact`."""

        def passed() -> bool:
            run()
            return True

        self.fact(check, files, passed)

    def remember(self) -> None:
        """Remember what was verified, if that is new; pages that only this read are not resident afterwards."""
        for mapped in self._checked:
            release(memoryview(mapped))
        self._checked.clear()  # each mapping has a descriptor, and these files may be needed no more
        runs = {path.partition("/")[0] for path in self._current.files}
        kept = {path: record for path, record in self._remembered.files.items() if path.partition("/")[0] in runs}
        facts = self._remembered.facts if kept else {}
        merged = Records(files=kept | self._current.files, facts=facts | self._current.facts)
        if self._local is not None and runs and merged != self._remembered:
            write_records(self._local, merged)
        self._remembered = merged


def release(content: Content) -> None:
    """Give back the resident pages of a mapped file that will not be read again soon; they are read from it then."""
    if isinstance(content, memoryview) and isinstance(content.obj, mmap.mmap):
        content.obj.madvise(mmap.MADV_DONTNEED)


def _sha256(opened: io.BufferedReader) -> str:
    """Return the digest of a file, which is read in blocks: through its mapping all of its pages would be resident."""
    return hashlib.file_digest(opened, "sha256").hexdigest()


def _is_settled(stamp: Stamp) -> bool:
    return time.time_ns() - max(stamp.mtime_ns, stamp.ctime_ns) >= SETTLED_NS


def reading_threads() -> int:
    """Return the number of files to read at a time."""
    return min(8, os.cpu_count() or 1)
