"""Opened versions of the index, the current one and those that requests still use.

Version -> Versions.swap -> Versions.lease -> the version of a request, until the request ends

All methods run in the thread of the event loop, so that no lock is needed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from jobs.web.versions.clusters import ClusterRows
from jobs.workflows.warehouses.version_reading import Readable

if TYPE_CHECKING:
    from model.certificates.certificate import Loaded
    from model.search.searcher import Searcher


class SearchesElsewhere(Protocol):
    """The processes that search a version (`jobs.web.processes.group.SearchProcesses`)."""

    @property
    def alive(self) -> int:
        """Return the number of processes that can search."""
        ...

    @property
    def idle(self) -> int:
        """Return the number of processes that search nothing."""
        ...

    async def attach(self, changed: Callable[[], None]) -> None:
        """Make their connections part of the event loop; call this function when one has started or ended."""
        ...

    def search(self, call: Any, parts: Sequence[Sequence[str]], done: Callable[[Any], None]) -> None:
        """Make a call in an idle process."""
        ...


class Canary(NamedTuple):
    """A question of the index that has to find itself.

    Attributes:
        text: the question.
        question_id: of its row.
        filters: values of its row.
    """

    text: str
    question_id: int
    filters: Mapping[str, str] = {}


@dataclasses.dataclass(eq=False)
class Version:
    """An opened, verified and warmed version of the index.

    Attributes:
        name: digest of its content.
        run_id: number of its version in a warehouse, folder of its run, that of its certificate, with plus signs.
        place: of its index and its certificate, for another process.
        searcher: of its questions.
        clusters: rows of each cluster.
        canaries: questions of the index.
        processes: that search it in place of threads.
        published: Unix time at which it was published.
        held: the lease on its folders in a warehouse.
        leases: number of requests that use it.
        seconds: CPU time of the last search of a single question, by the way of searching.
    """

    name: str
    run_id: str
    place: Readable
    searcher: Searcher
    clusters: ClusterRows
    canaries: Sequence[Canary]
    processes: SearchesElsewhere | None = None
    published: float = math.nan
    held: contextlib.ExitStack = dataclasses.field(default_factory=contextlib.ExitStack)
    leases: int = 0
    seconds: dict[tuple[object, ...], float] = dataclasses.field(default_factory=dict)
    _without: tuple[frozenset[str], Searcher] | None = None
    _making: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def without(self, blocked: frozenset[str]) -> Searcher:
        """Return the searcher without the rows of blocked answers: that of the last call if these are the same.

        It is called in threads: to make one takes .1 CPU s for half a million questions, .5 if answers have no ids.
        """
        with self._making:
            if self._without is None or self._without[0] is not blocked:
                self._without = blocked, self.searcher.without_answers(blocked)
            return self._without[1]

    async def attach(self, changed: Callable[[], None]) -> None:
        """Make the connections of its processes part of the event loop; call this when one has started or ended."""
        if self.processes is not None:
            await self.processes.attach(changed)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of which a request names a value."""
        return tuple(self.searcher.filter_values)

    @property
    def certificate(self) -> Loaded | None:
        """Return the certificate of its answers."""
        return self.searcher.certificate


class Versions:
    """The current version, and older ones that requests still use.

    Args:
        first: the version to begin with.
    """

    def __init__(self, first: Version) -> None:
        self.current = first
        self._retired: list[Version] = []

    @property
    def opened(self) -> int:
        """Return the number of versions in memory."""
        return 1 + len(self._retired)

    @property
    def processes(self) -> int:
        """Return the number of processes that search the current version."""
        processes = self.current.processes
        return 0 if processes is None else processes.alive

    @contextlib.contextmanager
    def lease(self) -> Iterator[Version]:
        """Yield the current version; it stays in memory until the block ends."""
        version = self.current
        version.leases += 1
        try:
            yield version
        finally:
            version.leases -= 1
            self._drop_unused()

    def swap(self, version: Version) -> None:
        """Use another version for new requests; the old one is dropped with its last request."""
        self._retired.append(self.current)
        self.current = version
        self._drop_unused()

    def close(self) -> None:
        """Release the leases on all versions, at the end of the server."""
        for version in (self.current, *self._retired):
            version.held.close()

    def _drop_unused(self) -> None:
        for version in self._retired:
            if not version.leases:  # in a thread of its own, since a remote store takes its time
                threading.Thread(target=version.held.close, name="release").start()
        self._retired = [version for version in self._retired if version.leases]
