"""Searches of requests: few questions at once in the event loop, many in a bounded pool of threads.

questions of a request -> Batcher.run -> queue -> all that wait are searched together -> results of each request

No request waits for others to come: those that the event loop reads in one turn, or while it searches, go together.
All methods run in the thread of the event loop, except `_work` in a pool's.
"""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import math
import time
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal, NamedTuple

from jobs.web.versions.leases import Version
from model.choices import Mode

Kind = Literal["search", "answer"]
Outcome = Sequence[Any] | Exception

BATCH = 64
"""Questions a thread takes at a time: at .8 ms each, a thread is free again after 50 ms."""

FEW = 8
"""Questions that the event loop searches itself: to hand them to a thread and back, which takes the interpreter from
each other several times a request, delays them more than they take."""

QUICK_S = 0.01
"""Seconds a question up to which the event loop searches; a slower search, such as an exact one, or one of an index
that is read from a disk for the first time, must not keep it from other requests."""


NO_VALUES: Final[Mapping[str, str]] = types.MappingProxyType({})
"""Values of a request to an index that varies by no column."""


class _Call(NamedTuple):
    """Equal calls are made together."""

    version: Version
    kind: Kind
    k: int
    mode: Mode | None
    filters: tuple[tuple[str, str], ...]

    def __call__(self, questions: Sequence[str]) -> Sequence[Any]:
        searcher, filters = self.version.searcher, dict(self.filters)
        if self.kind == "search":
            return searcher.search_many(questions, self.k, mode=self.mode, filters=filters)
        return searcher.answer_many(questions, hits=self.k, filters=filters)

    @property
    def way(self) -> tuple[Kind, Mode | None, bool]:
        """Return kind, mode and presence of filters, on which the time of a search depends most."""
        return self.kind, self.mode, bool(self.filters)


@dataclasses.dataclass(eq=False, slots=True)
class _Job:
    """Questions of one request; ``future`` gets their results."""

    questions: Sequence[str]
    future: asyncio.Future[Sequence[Any]]


class _Queue:
    """Jobs that wait, by call; the call whose jobs were taken last comes last."""

    def __init__(self) -> None:
        self._jobs: collections.OrderedDict[_Call, collections.deque[_Job]] = collections.OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._jobs.values()))

    def add(self, call: _Call, job: _Job) -> None:
        """Append a job."""
        self._jobs.setdefault(call, collections.deque()).append(job)

    def take(self, most: int) -> tuple[_Call, list[_Job]] | None:
        """Return jobs of one call with at most this number of questions, but one at least; None where none waits."""
        while self._jobs:
            call, jobs = next(iter(self._jobs.items()))
            batch: list[_Job] = []
            while jobs and (not batch or _size(batch) + len(jobs[0].questions) <= most):
                job = jobs.popleft()
                if not job.future.done():  # a request that timed out has left
                    batch.append(job)
            if jobs:
                self._jobs.move_to_end(call)
            else:
                del self._jobs[call]
            if batch:
                return call, batch
        return None


class Batcher:
    """Searches few questions in the event loop, and many in a pool of threads.

    Args:
        threads: number of threads, each with one thread of FAISS.
        observe: called with the number of questions of each batch.
        few: maximum number of questions that the event loop searches; 0: all are searched in threads.
    """

    def __init__(self, threads: int, observe: Callable[[int], None], *, few: int = FEW) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search", initializer=use_one_thread)
        self._free = threads
        self._observe = observe
        self._few = few
        self._of_loop, self._of_threads = _Queue(), _Queue()
        self._is_called = False
        self._seconds = weakref.WeakKeyDictionary[Version, dict[object, float]]()
        use_one_thread()

    @property
    def waiting(self) -> int:
        """Return the number of jobs in the queues."""
        return len(self._of_loop) + len(self._of_threads)

    async def run(
        self,
        version: Version,
        kind: Kind,
        questions: Sequence[str],
        k: int = 1,
        mode: Mode | None = None,
        filters: Mapping[str, str] = NO_VALUES,
    ) -> list[Any]:
        """Return the result of each question.

        A request with more than `BATCH` questions waits in the queue again after each batch, so that others are not
        held up.
        """
        results, values = list[Any](), tuple(sorted(filters.items()))
        for start in range(0, len(questions), BATCH):
            results += await self._submit(_Call(version, kind, k, mode, values), questions[start : start + BATCH])
        return results

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _submit(self, call: _Call, questions: Sequence[str]) -> Sequence[Any]:
        job = _Job(questions, asyncio.get_running_loop().create_future())
        if len(questions) <= self._few and self._is_quick(call):
            self._of_loop.add(call, job)
            self._call_soon()
        else:
            self._of_threads.add(call, job)
            self._start_threads()
        return await job.future

    def _is_quick(self, call: _Call) -> bool:
        """Return whether the last such search was quick; the first one is made in a thread."""
        return self._seconds.get(call.version, {}).get(call.way, math.inf) <= QUICK_S

    def _call_soon(self) -> None:
        """Search a batch here after the other requests of this turn of the event loop have come."""
        if not self._is_called:
            self._is_called = True
            asyncio.get_running_loop().call_soon(self._search_here)

    def _search_here(self) -> None:
        self._is_called = False
        if taken := self._of_loop.take(self._few):
            call, batch = taken
            self._observe(_size(batch))
            self._give(call, batch, *_timed(call, batch))
        if self._of_loop:
            self._call_soon()

    def _start_threads(self) -> None:
        while self._free and (taken := self._of_threads.take(BATCH)):
            call, batch = taken
            self._free -= 1
            self._observe(_size(batch))
            self._pool.submit(self._work, call, batch, asyncio.get_running_loop())

    def _work(self, call: _Call, batch: list[_Job], loop: asyncio.AbstractEventLoop) -> None:
        """Search in a thread of the pool."""
        loop.call_soon_threadsafe(self._finish, call, batch, *_timed(call, batch))

    def _finish(self, call: _Call, batch: list[_Job], outcomes: list[Outcome], seconds: float) -> None:
        self._free += 1
        self._give(call, batch, outcomes, seconds)
        self._start_threads()

    def _give(self, call: _Call, batch: list[_Job], outcomes: list[Outcome], seconds: float) -> None:
        """Give each request its outcome, and note the seconds a question."""
        self._seconds.setdefault(call.version, {})[call.way] = seconds
        for job, outcome in zip(batch, outcomes, strict=True):
            if job.future.done():
                continue
            if isinstance(outcome, Exception):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)


def _size(batch: list[_Job]) -> int:
    return sum(len(job.questions) for job in batch)


def _timed(call: _Call, batch: list[_Job]) -> tuple[list[Outcome], float]:
    """Return the outcome of each job, and the seconds a question."""
    began = time.perf_counter()
    try:
        found = iter(call([question for job in batch for question in job.questions]))
        outcomes: list[Outcome] = [[next(found) for _ in job.questions] for job in batch]
    except Exception:  # noqa: BLE001  # one request's error must not become that of its neighbours
        outcomes = [_outcome(call, job) for job in batch]
    return outcomes, (time.perf_counter() - began) / max(_size(batch), 1)


def _outcome(call: _Call, job: _Job) -> Outcome:
    try:
        return call(job.questions)
    except Exception as error:  # noqa: BLE001  # raised again where the request waits
        return error


def use_one_thread() -> None:
    """Limit FAISS to one thread for searches of this thread."""
    import faiss

    faiss.omp_set_num_threads(1)
