"""Random steps of requests, threads, processes and versions: what waits has nothing that could search it."""

import asyncio
import random

import pytest

from jobs.web.batching import BATCH, Batcher
from jobs.web.versions.outcomes import outcomes

STEPS = 300


class Searcher:
    """Returns questions in capitals, or fails."""

    def search_many(self, questions, k, *, mode=None, filters=None):
        if "bad" in questions:
            raise ValueError("bad")
        return [question.upper() * k for question in questions]


class Pool:
    """Threads, each of which searches until the test ends its search."""

    def __init__(self, threads):
        self.running, self.threads = [], threads
        self.takes_over = False  # the search of a process that dies

    def submit(self, work, *given):
        assert self.takes_over or len(self.running) < self.threads
        self.running.append((work, given))

    def shutdown(self, **_):
        pass

    def finish(self, place):
        work, given = self.running.pop(place)
        work(*given)


class Processes:
    """Processes that search a version as those of `SearchProcesses` do, each until the test ends its search."""

    def __init__(self, changed):
        self.changed, self.running = changed, {}

    @property
    def alive(self):
        return len(self.running)

    @property
    def idle(self):
        return sum(search is None for search in self.running.values())

    def search(self, *search):
        name = next(name for name, running in self.running.items() if running is None)
        self.running[name] = search

    def start(self):
        self.running[object()] = None
        self.changed()

    def finish(self, name):
        (call, parts, done), self.running[name] = self.running[name], None
        done(outcomes(call, parts))

    def die(self, name):
        search = self.running.pop(name)
        self.changed()
        if search is not None:
            search[2](None)


class Version:
    def __init__(self, processes):
        self.searcher, self.seconds, self.processes = Searcher(), {}, processes


class Steps:
    """A batcher, its threads and versions, and the requests that have not ended."""

    def __init__(self, seed):
        self.rng, self.threads = random.Random(seed), seed % 3 + 1
        self.batcher = Batcher(self.threads, lambda _: None)
        self.batcher._pool = Pool(self.threads)
        self.requests, self.versions, self.ended = {}, [], dict.fromkeys(("results", "errors", "cancelled"), 0)
        self.swap()

    def swap(self):
        processes = self.rng.choice([None, Processes(self.batcher.plan)])
        self.versions.append(Version(processes))
        for _ in range(self.rng.randrange(3) if processes else 0):
            processes.start()
        for version in self.versions[:-2]:  # those of the last but one end their requests, as leases do
            self.versions.remove(version)
            while version.processes and version.processes.running:
                self._die(version.processes)

    def request(self):
        size = self.rng.choice([1, 1, 1, 3, BATCH, 2 * BATCH + 1])
        questions = [self.rng.choice(["pay", "fly", "bad"] if size == 1 else ["pay", "fly"]) for _ in range(size)]
        k = self.rng.choice([1, 2])
        task = asyncio.ensure_future(self.batcher.run(self.versions[-1], "search", questions, k))
        self.requests[task] = [question.upper() * k for question in questions]

    def time_out(self):
        if self.requests:
            self.rng.choice([*self.requests]).cancel()

    def finish_thread(self):
        if running := self.batcher._pool.running:
            self.batcher._pool.finish(self.rng.randrange(min(self.threads, len(running))))

    def start_process(self):
        if processes := self.rng.choice(self.versions).processes:
            processes.start()

    def finish_process(self):
        for processes in self._groups():
            for name in [name for name, search in processes.running.items() if search is not None][:1]:
                processes.finish(name)

    def die(self):
        for processes in self._groups()[:1]:
            self._die(processes)

    def _die(self, processes):
        self.batcher._pool.takes_over = True
        processes.die(self.rng.choice([*processes.running]))
        self.batcher._pool.takes_over = False

    def _groups(self):
        found = [version.processes for version in self.versions if version.processes and version.processes.running]
        return self.rng.sample(found, len(found))

    async def check(self):
        for _ in range(12):  # all that is ready has run
            await asyncio.sleep(0)
        running = len(self.batcher._pool.running)
        assert self.batcher._free == self.threads - running
        for call, jobs in self.batcher._waiting.items():
            assert jobs
            processes = call.version.processes
            free = processes.idle if processes and processes.alive else self.threads - running
            assert free <= 0, (call.k, len(jobs), free)
        for task in [task for task in self.requests if task.done()]:
            expected = self.requests.pop(task)
            if task.cancelled():
                self.ended["cancelled"] += 1
            elif "BAD" in expected[0]:
                assert isinstance(task.exception(), ValueError)
                self.ended["errors"] += 1
            else:
                assert task.result() == expected
                self.ended["results"] += 1

    async def run(self):
        steps = [self.request] * 8 + [self.finish_thread] * 5 + [self.finish_process] * 5
        steps += [self.time_out, self.start_process, self.start_process, self.die]
        for number in range(STEPS):
            self.rng.choice(steps)()
            if number % 40 == 39:
                self.swap()
            if self.rng.random() < 0.7:  # else another step comes before the loop goes on
                await self.check()
        for _ in range(STEPS):
            self.finish_thread()
            self.finish_process()
            await self.check()
            if not self.requests:
                break
        assert not self.requests
        assert not self.batcher.waiting


@pytest.mark.parametrize("seed", range(6))
async def test_nothing_waits_while_something_that_could_search_it_is_free_and_every_request_ends(seed):
    steps = Steps(seed)
    await steps.run()
    assert min(steps.ended.values()) > 0, steps.ended
