"""Questions that wait are searched together, and one request's fault is its own."""

import asyncio
import contextlib
import gc
import threading
import time
import weakref

import pytest

from jobs.web import batching
from jobs.web.batching import BATCH, CHARACTERS, Batcher
from jobs.web.versions import calls as calls_module
from jobs.web.versions.calls import Listing
from tests.support.waiting import wait_until


class Searcher:
    """Returns questions in capitals; the first call waits for `gate`."""

    def __init__(self):
        self.gate, self.calls, self.threads = threading.Event(), [], set()

    def search_many(self, questions, k, *, mode=None, filters=None):
        self.calls.append((list(questions), k))
        self.threads.add(threading.current_thread().name)
        assert self.gate.wait(20)
        if "bad" in questions:
            raise ValueError("bad")
        return [question.upper() * k for question in questions]

    def answer_many(self, questions, *, hits=0, filters=None):
        return [f"answer to {question}" for question in self.search_many(questions, 1)]


class Version:
    def __init__(self):
        self.searcher = Searcher()
        self.seconds, self.processes = {}, None


async def started(batcher, *calls):
    tasks = [asyncio.create_task(batcher.run(*call)) for call in calls]
    for _ in range(2):
        await asyncio.sleep(0)
    return tasks


async def test_a_free_thread_takes_all_that_have_come_at_once_and_then_all_that_wait(batcher):
    version = Version()
    tasks = await started(batcher, *[(version, "search", [letter], 1) for letter in "ab"])
    assert batcher.waiting == 0
    tasks += await started(batcher, *[(version, "search", [letter], 1) for letter in "cde"])
    assert batcher.waiting == 3
    version.searcher.gate.set()
    assert await asyncio.gather(*tasks) == [["A"], ["B"], ["C"], ["D"], ["E"]]
    assert version.searcher.calls == [(["a", "b"], 1), (["c", "d", "e"], 1)]


@pytest.mark.parametrize("threads", [2])
async def test_free_threads_share_what_has_come_at_once(batcher):
    version = Version()
    tasks = await started(batcher, *[(version, "search", [letter], 1) for letter in "abcde"])
    assert batcher.waiting == 0
    version.searcher.gate.set()
    assert await asyncio.gather(*tasks) == [["A"], ["B"], ["C"], ["D"], ["E"]]
    assert sorted(questions for questions, _ in version.searcher.calls) == [["a", "b", "c"], ["d", "e"]]


@pytest.fixture
def quick():
    """Return a version whose searches are quick, and have been once."""
    version = Version()
    version.searcher.gate.set()
    version.seconds["search", 1, None] = 0.0001
    return version


async def threads_of(version, *calls):
    """Return the threads that search, and the results of the calls."""
    with contextlib.closing(Batcher(2, lambda _: None)) as batcher:
        found = await asyncio.gather(*await started(batcher, *calls), return_exceptions=True)
    return version.searcher.threads, found


async def test_a_quick_search_of_few_questions_that_come_alone_takes_no_thread(quick):
    threads, found = await threads_of(quick, (quick, "search", ["a"], 1))
    assert (threads, found) == ({threading.current_thread().name}, [["A"]])
    threads, found = await threads_of(quick, (quick, "search", ["a", "b"], 1), (quick, "search", ["c"], 1))
    assert (threads, found) == ({threading.current_thread().name}, [["A", "B"], ["C"]])
    assert quick.searcher.calls[-1] == (["a", "b", "c"], 1)
    _, [error] = await threads_of(quick, (quick, "search", ["bad"], 1))
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    "calls",
    [
        [(["a"], 2)],
        [([*"abcde"], 1)],
        [([*"abc"], 1), ([*"de"], 1)],
        [(["a" * 1001], 1)],
        [(["ﷺ" * 30], 1), (["ﷺ" * 30], 1)],
        [(["a"], 1), (["b"], 1, "dense")],
        [(["a"], 1, None, {"locale": "de"})],
    ],
    ids=["not measured", "five questions", "two requests", "long", "long by NFKC", "two ways", "filters"],
)
async def test_any_other_search_takes_a_thread(quick, calls):
    threads, _ = await threads_of(quick, *[(quick, "search", *call) for call in calls])
    assert threading.current_thread().name not in threads


async def test_the_time_of_the_last_few_questions_decides(quick, monkeypatch):
    here = threading.current_thread().name
    monkeypatch.setattr(batching, "QUICK_S", 0.05)
    search = quick.searcher.search_many

    def slow(questions, k, **_):
        begun = time.thread_time()
        while time.thread_time() - begun < 0.1:
            pass
        return search(questions, k)

    quick.searcher.search_many = slow
    assert (await threads_of(quick, (quick, "search", ["a"], 1)))[0] == {here}
    quick.searcher.threads.clear()
    assert here not in (await threads_of(quick, (quick, "search", ["b"], 1)))[0]
    quick.searcher.search_many = search
    assert here not in (await threads_of(quick, (quick, "search", ["c"], 1)))[0]
    assert here in (await threads_of(quick, (quick, "search", ["d"], 1)))[0]


async def test_only_equal_calls_are_made_together(batcher):
    one, two = Version(), Version()
    calls = [
        (one, "search", ["x"], 1),
        (one, "search", ["a"], 2),
        (two, "search", ["b"], 2),
        (one, "answer", ["c"]),
    ]
    tasks = await started(batcher, *calls, (one, "search", ["d"], 2))
    one.searcher.gate.set()
    two.searcher.gate.set()
    assert await asyncio.gather(*tasks) == [["X"], ["AA"], ["BB"], ["answer to C"], ["DD"]]
    assert one.searcher.calls == [(["x"], 1), (["a", "d"], 2), (["c"], 1)]


async def test_a_single_question_does_not_wait_for_the_end_of_a_large_request(batcher):
    version = Version()
    done = []
    large, single = await started(
        batcher, (version, "search", ["many"] * (5 * BATCH), 1), (version, "search", ["one"], 1)
    )
    large.add_done_callback(lambda _: done.append("large"))
    single.add_done_callback(lambda _: done.append("single"))
    version.searcher.gate.set()
    assert len(await large) == 5 * BATCH
    await single
    assert done == ["single", "large"]
    assert max(len(questions) for questions, _ in version.searcher.calls) <= BATCH


@pytest.mark.parametrize("letter", ["x", "ﷺ"])
async def test_a_thread_takes_few_long_questions_at_a_time(letter, batcher):
    version = Version()
    characters = 1 if letter == "x" else 18
    long = letter * (CHARACTERS // (3 * characters))
    huge = letter * (2 * CHARACTERS)
    tasks = await started(batcher, (version, "search", ["a", *[long] * 4, huge, "b"], 1), (version, "search", ["c"], 1))
    tasks += await started(batcher, *[(version, "search", [long], 1) for _ in range(4)])
    version.searcher.gate.set()
    first, second, *others = await asyncio.gather(*tasks)
    assert (len(first), second, len(others)) == (7, ["C"], 4)
    sizes = [characters * sum(map(len, questions)) for questions, _ in version.searcher.calls if huge not in questions]
    assert max(sizes) <= CHARACTERS
    assert [huge] in [questions for questions, _ in version.searcher.calls]


async def test_a_failing_question_fails_its_own_request_only(batcher):
    version = Version()
    tasks = await started(batcher, *[(version, "search", [text], 1) for text in ("first", "good", "bad", "fine")])
    version.searcher.gate.set()
    first, good, bad, fine = await asyncio.gather(*tasks, return_exceptions=True)
    assert (first, good, fine) == (["FIRST"], ["GOOD"], ["FINE"])
    assert isinstance(bad, ValueError)


@pytest.fixture
def without_collections():
    """Turn the collection of cycles off until the test ends."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("is_quick", [False, True])
@pytest.mark.usefixtures("without_collections")
async def test_an_error_leaves_nothing_that_holds_the_version(batcher, is_quick):
    kept = await version_after_errors(batcher, is_quick=is_quick)
    await asyncio.to_thread(wait_until, lambda: kept() is None)  # its thread may still be leaving the search


async def version_after_errors(batcher, *, is_quick):
    """Return a weak reference to a version two of whose searches have failed."""
    version = Version()
    version.searcher.gate.set()
    if is_quick:
        version.seconds["search", 1, None] = 0.0001

    async def fails(text):
        try:
            await batcher.run(version, "search", [text])
        except ValueError:
            return True
        return False

    assert await asyncio.gather(*[fails(text) for text in ("bad", "good", "bad")]) == [True, False, True]
    return weakref.ref(version)


async def test_a_request_that_was_given_up_is_not_searched(batcher):
    version = Version()
    tasks = await started(batcher, (version, "search", ["a"], 1))
    tasks += await started(batcher, *[(version, "search", [text], 1) for text in ("gone", "b")])
    tasks[1].cancel()
    await asyncio.sleep(0)
    version.searcher.gate.set()
    assert await asyncio.gather(tasks[0], tasks[2]) == [["A"], ["B"]]
    assert version.searcher.calls == [(["a"], 1), (["b"], 1)]


@pytest.mark.parametrize("threads", [1, 3])
async def test_there_are_never_more_threads_than_asked_for(batcher, threads):
    version = Version()
    version.searcher.gate.set()
    slow = version.searcher.search_many
    version.searcher.search_many = lambda questions, k, **_: (time.sleep(0.005), slow(questions, k))[1]
    tasks = await started(batcher, *[(version, "search", [str(n)], n % 5 + 1) for n in range(50)])
    assert await asyncio.gather(*tasks) == [[str(n) * (n % 5 + 1)] for n in range(50)]
    assert len(version.searcher.threads) == threads


async def test_hits_are_listed_in_the_thread_that_finds_them(monkeypatch, batcher):
    version, threads = Version(), []
    version.searcher.gate.set()
    monkeypatch.setattr(
        calls_module,
        "hit_documents",
        lambda hits, k, *, blocked: threads.append(threading.current_thread().name) or (hits[:k], blocked),
    )
    listing = Listing(2, frozenset({"x"}))
    assert await batcher.run(version, "search", ["abc", "de"], 1, None, {}, listing) == [
        (("AB", {"x"}), False),
        (("DE", {"x"}), False),
    ]
    assert {*threads} == version.searcher.threads
