"""Opening of a version of the index for serving: verified, searched, and small enough for the memory.

Readable -> open_version -> Version
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
from typing import TYPE_CHECKING, Protocol

import numpy as np

from jobs.machine.limits import free_bytes
from jobs.web.versions.clusters import ClusterRows
from jobs.web.versions.leases import Canary, Version
from jobs.workflows.warehouses.version_reading import Readable
from schemas.artifacts.manifest import Manifest, read_manifest
from schemas.errors import QprError
from schemas.text import normal_length, words_of

if TYPE_CHECKING:
    from model.search.searcher import Searcher


class Opener(Protocol):
    """A function that opens an index."""

    def __call__(self, url: str, /, *, certificate: str | None) -> Searcher:
        """Return the index at a URL, which answers as its certificate permits; None: it has none."""
        ...


CANARIES = 8
"""Questions of the index, evenly spaced, each of which has to find itself."""

_WARMING = 64
"""Questions that are searched before requests come: compiled loops, tables and pages of files are then in memory."""

_OTHER_SCRIPTS = "größe 日本語 สวัสดี $5"
"""Cut into words and measured once: for the first such question patterns of all scripts are compiled, in a third of a
second, and all characters looked at."""

_ATTEMPTS = 3
"""Attempts to open a version before another one is published."""

_NAME = 16
"""Hexadecimal digits of a digest that name a version."""


def open_version(readable: Readable, open_searcher: Opener) -> Version:
    """Open, verify and warm the version that is published now.

    Args:
        readable: its place; a lease on it is held by the returned version.
        open_searcher: opens it with its certificate; every byte is checked against the manifest.

    Raises:
        QprError: there is no complete index, it is damaged, a question does not find itself, or the memory does not
            hold it.
    """
    for _ in range(_ATTEMPTS):
        with contextlib.ExitStack() as stack:
            served = stack.enter_context(readable.held())
            url, runs = served.index_url, served.runs()
            manifest = read_manifest(url, "index")
            _check_memory(url, manifest)
            try:
                searcher = open_searcher(url, certificate=served.certificate)
            except QprError:
                if readable.now().runs() == runs:
                    raise
                continue  # the next version was published meanwhile, and the files of this one are gone
            if readable.now().runs() != runs:
                continue
            return Version(
                name=manifest.digest[:_NAME],
                run_id=runs,
                place=Readable(url, served.certificate),
                searcher=searcher,
                clusters=ClusterRows(searcher.index),
                canaries=_checked_canaries(url, searcher),
                published=datetime.datetime.fromisoformat(served.created or manifest.created).timestamp(),
                held=stack.pop_all(),
            )
    raise QprError(f"{readable.url}: changes faster than it can be opened. Publish less often")


def _checked_canaries(url: str, searcher: Searcher) -> list[Canary]:
    """Return some questions that find themselves, after searches for more of them."""
    words_of(_OTHER_SCRIPTS)
    normal_length(_OTHER_SCRIPTS)
    numbers = np.unique(np.linspace(0, len(searcher) - 1, _WARMING).astype(np.int64))
    rows = searcher.index.questions(searcher.index.live_rows(numbers)).to_pylist()
    columns = [*searcher.filter_values]
    spaced = [Canary(row["text"], row["question_id"], {name: row[name] for name in columns}) for row in rows]
    groups = itertools.groupby(sorted(spaced, key=_values), key=_values)
    valid: set[int] = set()
    for canaries in [[*of_values] for _, of_values in groups]:
        searcher.search_many([canary.text for canary in canaries], 10, filters=canaries[0].filters)
        valid.update(canary.question_id for canary in canaries if is_valid(searcher, canary))
    candidates = [canary for canary in spaced if canary.question_id in valid]
    chosen = candidates[:: max(1, len(candidates) // CANARIES)][:CANARIES]
    for canary in chosen:
        hits = searcher.search_many([canary.text], 1, filters=canary.filters)[0]
        is_first = bool(hits) and hits[0].question_id == canary.question_id
        if not is_first and is_valid(searcher, canary):  # else its answer ended meanwhile
            raise QprError(f"{url}: question {canary.question_id} does not find itself. Build the index again")
    return chosen


def _values(canary: Canary) -> tuple[str, ...]:
    return tuple(canary.filters.values())


def first_valid(version: Version) -> Canary | None:
    """Return a canary of a version whose answer has not ended; None where all have."""
    return next((canary for canary in version.canaries if is_valid(version.searcher, canary)), None)


def is_valid(searcher: Searcher, canary: Canary) -> bool:
    """Return whether the answer of a canary has not ended."""
    row = searcher.part(canary.filters).rows_of(np.array([canary.question_id], np.int64))[0]
    return bool(row >= 0)


def _check_memory(url: str, manifest: Manifest) -> None:
    """Check that the free memory of machine and container holds all files, where the system reports it."""
    free = free_bytes()
    needed = sum(file.bytes for file in manifest.files)
    if free is not None and needed > free:
        sizes = f"needs {needed / 1e6:,.0f} MB, {free / 1e6:,.0f} MB are free"
        raise QprError(f"{url}: {sizes}. Use a smaller index or a larger machine")
