"""Searches in a bounded pool of threads or of processes; questions that wait are searched together.

questions of a request -> Batcher.run -> queue -> those that are free share all that wait -> results of each request

No request waits for others to come. Where a version has no processes, a few questions that have come while no thread
searches are searched in the thread of the event loop if the search before them was quick. All methods run in that
thread, except `_work`.
"""

from __future__ import annotations

import asyncio
import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from jobs.web.versions.calls import NO_VALUES, Call, Kind, Listing
from jobs.web.versions.leases import SearchesElsewhere, Version
from jobs.web.versions.outcomes import FEW, Outcome, outcomes, use_one_thread
from model.choices import Mode
from schemas.text import normal_length

BATCH = 64
"""Questions a thread takes at a time: at .3 ms each, a thread is free again after 20 ms."""

CHARACTERS = 8192
"""Characters a thread takes at a time, unless a single question has more: at .01 ms each it is free again after 80 ms.
Questions have 60 on average, so of most workloads a thread takes `BATCH` questions."""

FEW_CHARACTERS = 1000
"""Characters that these questions may have, together: at .01 ms each, beside a search."""

QUICK_S = 0.004
"""CPU seconds a question of a search up to which the next one of its kind may hold up the event loop. To hand a
question to a thread and back costs .2 CPU ms of 2.0; at 200 a second the searches of mode probability have a 99th
percentile of 8 to 10 ms with this limit, and of 12 with half of it, where every other one took a thread."""


@dataclasses.dataclass(eq=False, slots=True)
class _Job:
    """Questions of one request, and their number of characters; ``future`` gets their results."""

    questions: Sequence[str]
    characters: int
    future: asyncio.Future[Sequence[Any]]


class Batcher:
    """A pool of threads that searches, and the queue in front of it.

    Args:
        threads: number of threads, each with one thread of FAISS.
        observe: called with the number of questions of each batch.
    """

    def __init__(self, threads: int, observe: Callable[[int], None]) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search", initializer=use_one_thread)
        self._threads = self._free = threads
        self._observe = observe
        self._waiting: collections.OrderedDict[Call, collections.deque[_Job]] = collections.OrderedDict()
        self._is_planned = self._is_closed = False

    @property
    def waiting(self) -> int:
        """Return the number of jobs in the queue."""
        return sum(map(len, self._waiting.values()))

    async def run(
        self,
        version: Version,
        kind: Kind,
        questions: Sequence[str],
        k: int = 1,
        mode: Mode | None = None,
        filters: Mapping[str, str] = NO_VALUES,
        listing: Listing | None = None,
    ) -> list[Any]:
        """Return the result of each question; with a listing that of the hits of a search.

        A request with more than `BATCH` questions or `CHARACTERS` waits in the queue again after each batch, so that
        single questions are not held up.
        """
        call, results = Call(version, kind, k, mode, tuple(sorted(filters.items())), listing), list[Any]()
        for part, characters in _parts(questions):
            results += await self._queued(call, part, characters)
        return results

    def plan(self) -> None:
        """Search what waits where something is free, after all requests that have been read by now.

        It is called when a request has come, and when a process has started or ended.
        """
        if not self._is_planned:
            self._is_planned = True
            asyncio.get_running_loop().call_soon(self._dispatch)

    def close(self) -> None:
        """End the threads."""
        self._is_closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _queued(self, call: Call, questions: Sequence[str], characters: int) -> asyncio.Future[Sequence[Any]]:
        """Return the results to come; no variable of a coroutine is one, as its error would lead back to it."""
        job = _Job(questions, characters, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(call, collections.deque()).append(job)
        self.plan()
        return job.future

    def _dispatch(self) -> None:
        self._is_planned = False
        while (call := next((call for call in self._waiting if self._free_for(call)), None)) is not None:
            jobs = self._waiting[call]
            is_quick = self._is_quick(call, jobs)
            batch = self._batch(jobs, parts=1 if is_quick else self._free_for(call))
            if jobs:
                self._waiting.move_to_end(call)
            else:
                del self._waiting[call]
            if not batch:
                continue
            self._observe(_questions(batch))
            if (processes := _processes(call)) is not None:
                self._search_elsewhere(processes, call, batch)
                continue
            if is_quick:
                self._free -= 1
                use_one_thread()
                self._finish(batch, outcomes(call, [job.questions for job in batch]))
            else:
                self._search_in_thread(call, batch)

    def _free_for(self, call: Call) -> int:
        """Return how many threads or processes could make a call now."""
        processes = _processes(call)
        return max(self._free, 0) if processes is None else processes.idle

    def _search_elsewhere(self, processes: SearchesElsewhere, call: Call, batch: list[_Job]) -> None:
        """Search in a process; if it ends meanwhile, in a thread, for the requests that still wait."""

        def finish(outcomes: list[Outcome] | None) -> None:
            if outcomes is not None:
                self._settle(batch, outcomes)
            elif not self._is_closed and (left := [job for job in batch if not job.future.done()]):
                self._search_in_thread(call, left)

        processes.search(call, [job.questions for job in batch], finish)

    def _search_in_thread(self, call: Call, batch: list[_Job]) -> None:
        self._free -= 1
        self._pool.submit(self._work, call, batch, asyncio.get_running_loop())

    def _batch(self, jobs: collections.deque[_Job], *, parts: int) -> list[_Job]:
        """Take from the queue of a call what one of several threads searches next, without those that have left."""
        share = min(BATCH, -(-_questions(jobs) // parts))
        batch: list[_Job] = []
        size = characters = 0
        while jobs:
            if jobs[0].future.done():  # a request that timed out has left
                jobs.popleft()
                continue
            size, characters = size + len(jobs[0].questions), characters + jobs[0].characters
            if batch and (size > share or characters > CHARACTERS):
                break
            batch.append(jobs.popleft())
        return batch

    def _is_quick(self, call: Call, jobs: collections.deque[_Job]) -> bool:
        """Return whether to search in this thread: few short questions, no others around, a quick search."""
        are_alone = len(self._waiting) == 1 and self._free == self._threads and _processes(call) is None
        are_few = _questions(jobs) <= FEW and sum(job.characters for job in jobs) <= FEW_CHARACTERS
        return are_alone and are_few and not call.makes_view and call.version.seconds.get(call.way, QUICK_S) < QUICK_S

    def _work(self, call: Call, batch: list[_Job], loop: asyncio.AbstractEventLoop) -> None:
        """Search in a thread of the pool."""
        loop.call_soon_threadsafe(self._finish, batch, outcomes(call, [job.questions for job in batch]))

    def _finish(self, batch: list[_Job], outcomes: list[Outcome]) -> None:
        self._free += 1
        self._settle(batch, outcomes)

    def _settle(self, batch: list[_Job], outcomes: list[Outcome]) -> None:
        for job, outcome in zip(batch, outcomes, strict=True):
            if job.future.done():
                continue
            if isinstance(outcome, Exception):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)
        batch.clear()  # variables of functions that an error leads to, which would lead back to it
        outcomes.clear()
        self._dispatch()


def _parts(questions: Sequence[str]) -> Iterator[tuple[Sequence[str], int]]:
    """Yield what a thread takes at a time of the questions of a request, with its number of characters."""
    start = characters = 0
    for number, length in enumerate(map(normal_length, questions)):
        if number - start == BATCH or (number > start and characters + length > CHARACTERS):
            yield questions[start:number], characters
            start, characters = number, 0
        characters += length
    if questions:
        yield questions[start:], characters


def _processes(call: Call) -> SearchesElsewhere | None:
    """Return the processes that make a call, None where threads do."""
    processes = call.version.processes
    return processes if processes is not None and processes.alive else None


def _questions(jobs: Iterable[_Job]) -> int:
    return sum(len(job.questions) for job in jobs)
