"""A server whose searches are made in processes: equal responses, processes that end, new versions, the end."""

import asyncio
import gc
import os
import signal
import sys
import threading
import weakref
from pathlib import Path

import pytest

from jobs.web.processes import group
from jobs.web.processes import process as process_module
from jobs.web.processes.group import start_processes
from jobs.web.processes.messages import framed
from jobs.web.versions.calls import Call
from schemas.errors import QprError
from tests.jobs.web.conftest import make_version
from tests.support.waiting import wait_until

QUESTIONS = [f"how do I pay bill number {number}" for number in range(40)]

CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")

pytestmark = pytest.mark.skipif(not CHILDREN.exists(), reason="child processes are looked up in /proc")


def children(process):
    """Return the numbers of the processes that a server has started and that run."""
    found = Path(f"/proc/{process.popen.pid}/task/{process.popen.pid}/children").read_text().split()
    threads = Path(f"/proc/{process.popen.pid}/task").iterdir()
    found += [number for thread in threads for number in _children_of(thread)]
    return sorted({int(number) for number in found if _runs(int(number))})


def _children_of(thread):
    try:
        return (thread / "children").read_text().split()
    except OSError:
        return []


def _runs(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def searching(process):
    """Return the number of processes that search, as the metrics have it."""
    lines = process.client.get("/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("qpr_search_processes "))


def responses(client):
    """Return the responses to requests of all kinds."""
    several = {"questions": [*QUESTIONS[:5], "pay?", "..."], "k": 3}
    return [
        client.get("/search", params={"q": "bill number 7", "k": 5}).json(),
        client.get("/search", params={"q": "bill number 7", "k": 5, "mode": "dense"}).json(),
        client.post("/search", json=several).json(),
        client.post("/search", json={"questions": QUESTIONS * 5, "k": 2}).json(),
        client.post("/answer", json={"questions": ["pay bill", QUESTIONS[0]]}).json(),
        client.post("/answer", json=several).json(),
        client.get("/readyz").json(),
    ]


def test_processes_give_the_responses_that_threads_give_and_end_with_a_killed_server(publish, server, tmp_path):
    index = publish(QUESTIONS)
    threads = server(index, "--state", tmp_path / "threads")
    processes = server(index, "--state", tmp_path / "processes", "--processes", 2)
    started = children(processes)
    assert len(started) == searching(processes) == 2
    assert children(threads) == []
    assert responses(processes.client) == responses(threads.client)
    best = threads.client.get("/search", params={"q": "bill number 7"}).json()["results"][0]["hits"][0]["answer_id"]
    for process in (threads, processes):
        assert process.client.delete(f"/answers/{best}").status_code == 200
    found = responses(processes.client)
    assert found == responses(threads.client)
    assert best not in {hit["answer_id"] for hit in found[0]["results"][0]["hits"]}
    assert len(found[0]["results"][0]["hits"]) == 5
    processes.popen.kill()
    wait_until(lambda: not any(map(_runs, started)))


def test_processes_are_replaced_without_a_failed_request_and_end_with_their_version(publish, server):
    process = server(publish(QUESTIONS), "--processes", 1, "--poll", 0)
    statuses, stop = [], threading.Event()

    def load():
        client = process.new_client()
        while not stop.is_set():
            statuses.append(client.post("/search", json={"questions": QUESTIONS, "k": 1}).status_code)
        client.close()

    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    [first] = children(process)
    os.kill(first, signal.SIGTERM)  # as a service manager sends it to all processes: the server decides
    wait_until(lambda: len(statuses) > 20)
    assert children(process) == [first]
    os.kill(first, signal.SIGKILL)
    asked = len(statuses)
    wait_until(lambda: len(statuses) > asked + 20 and searching(process) == 1)
    [second] = children(process)
    publish(QUESTIONS[:20])
    assert process.client.post("/reload").json() == {"reload": "swapped"}
    wait_until(lambda: len(children(process)) == 1)
    [third] = children(process)
    assert len({first, second, third}) == 3
    found = process.client.get("/search", params={"q": QUESTIONS[3], "k": 40}).json()["results"][0]["hits"]
    assert {hit["text"] for hit in found} == {*QUESTIONS[:20]}
    stop.set()
    for thread in threads:
        thread.join()
    assert set(statuses) == {200}
    assert process.stop() == 0
    wait_until(lambda: not _runs(third))
    [line] = [line for line in process.errors if line.startswith("a process that searches ended")]
    assert line == "a process that searches ended by signal 9; others search until another one has started\n"


def script(lines):
    """Return the command line of a process with a connection ``c``."""
    begin = "import socket, sys; c = socket.socket(fileno=int(sys.argv[1])); c.recv(9999)"
    return [sys.executable, "-S", "-c", f"{begin}; {lines}"]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (f"c.sendall({framed({'refused': 'index: is damaged'})!r})", "index: is damaged"),
        ("sys.exit(3)", r"one: a process that searches ended at its start with status 3\. Look .*"),
    ],
)
def test_a_process_that_cannot_open_the_version_is_named_and_the_others_end(lines, error):
    version = make_version()
    with pytest.raises(QprError, match=f"^{error}$"):
        start_processes(version, 2, script(lines))
    assert version.processes is None


def test_a_process_that_ends_before_it_reads_its_message_is_named():
    with pytest.raises(QprError, match=r"^one: a process that searches ended at its start with status 4\. Look"):
        start_processes(make_version(), 1, [sys.executable, "-S", "-c", "import sys; sys.exit(4)"])


async def test_a_process_that_has_ended_is_tried_again_until_its_version_is_no_longer_held(
    monkeypatch, capsys, tmp_path
):
    opened = framed({"opened": "one"})
    flag = tmp_path / "damaged"
    lines = f"c.sendall({opened!r}); c.recv(9999)"
    command = script(f"import os; os.path.exists({str(flag)!r}) and sys.exit(4); {lines}")
    version = make_version()
    start_processes(version, 1, command)
    monkeypatch.setattr(group, "_AGAIN_S", 0.05)
    await version.attach(lambda: None)
    assert (version.processes.alive, version.processes.idle) == (1, 1)
    flag.touch()
    call, outcome = Call(version, "answer", 0, None, (), None), asyncio.get_running_loop().create_future()
    version.processes.search(call, [["a"]], outcome.set_result)  # a message that ends this process
    assert version.processes.idle == 0
    assert await outcome is None
    assert version.processes.alive == 0
    await until(lambda: "the next attempt" in capsys.readouterr().err)
    flag.unlink()
    await until(lambda: version.processes.alive == 1)
    await asyncio.to_thread(version.held.close)
    await until(lambda: version.processes.alive == 0)
    await asyncio.sleep(0.2)
    assert version.processes.alive == 0


async def test_a_request_that_comes_while_a_connection_is_made_is_searched_in_a_thread(batcher):
    version = make_version()
    start_processes(version, 1, script(f"c.sendall({framed({'opened': 'one'})!r}); c.recv(9999)"))
    attaching = asyncio.ensure_future(version.attach(batcher.plan))
    [hits] = await batcher.run(version, "search", ["pay my bill"])
    await attaching
    assert hits[0].text == "pay my bill"
    assert version.processes.alive == 1
    await asyncio.to_thread(version.held.close)


SILENT = f"c.sendall({framed({'opened': 'one'})!r}); list(iter(lambda: c.recv(9999), b''))"
"""Lines of a process that answers nothing."""


@pytest.mark.parametrize("threads", [2])
async def test_requests_that_wait_are_searched_as_soon_as_a_process_has_ended_or_started(batcher):
    version = make_version()
    version.searcher.gate.clear()
    start_processes(version, 1, script(SILENT))
    await version.attach(batcher.plan)
    asked = [asyncio.ensure_future(batcher.run(version, "search", ["pay my bill"], k)) for k in (1, 2, 3)]
    await until(lambda: version.processes.idle == 0)
    assert batcher.waiting == 2
    [process] = version.processes._processes
    process._popen.kill()
    await until(lambda: len(version.searcher.calls) == 2)  # one was in the process, one had waited
    await until(lambda: version.processes.alive == 1)
    await until(lambda: version.processes.idle == 0)
    assert batcher.waiting == 0
    version.searcher.gate.set()
    await asyncio.to_thread(version.held.close)
    assert [len(hits) for [hits] in await asyncio.gather(*asked)] == [1, 2, 3]


async def test_the_end_of_a_version_does_not_wait_for_a_process_that_is_opening_it(monkeypatch, capsys, tmp_path):
    flag = tmp_path / "slow"
    slow = f"import os, time; os.path.exists({str(flag)!r}) and (time.sleep(30), sys.exit()); {SILENT}"
    version = make_version()
    start_processes(version, 1, script(slow))
    monkeypatch.setattr(process_module, "_END_S", 0.5)
    await version.attach(lambda: None)
    flag.touch()
    [process] = version.processes._processes
    process._popen.kill()
    await until(lambda: len(version.processes._processes) == 2)
    await asyncio.to_thread(version.held.close)
    await until(lambda: not version.processes._tasks)
    assert "no other process" not in capsys.readouterr().err


async def test_a_request_that_was_given_up_is_not_searched_again_when_its_process_ends(batcher):
    version = make_version()
    start_processes(version, 1, script(SILENT))
    await version.attach(batcher.plan)
    asked = asyncio.ensure_future(batcher.run(version, "search", ["pay my bill"]))
    await until(lambda: version.processes.idle == 0)
    asked.cancel()
    await asyncio.to_thread(version.held.close)
    await until(lambda: version.processes.alive == 0)
    await batcher.run(version, "search", ["cancel my flight"])
    assert version.searcher.calls == [["cancel my flight"]]


@pytest.mark.parametrize("message", [
    {"other": 1}, {"outcomes": []}, {"outcomes": [{"found": [[]]}, {"found": [[]]}]}, {"outcomes": [{"found": []}]}
])  # fmt: skip
async def test_a_message_that_is_no_outcome_of_its_request_ends_its_process_and_a_thread_searches(batcher, message):
    version = make_version()
    lines = f"c.sendall({framed({'opened': 'one'})!r}); c.recv(9999); c.sendall({framed(message)!r}); c.recv(9999)"
    start_processes(version, 1, script(lines))
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    await version.attach(batcher.plan)
    [hits] = await batcher.run(version, "search", ["pay my bill"])
    assert hits[0].text == "pay my bill"
    await asyncio.to_thread(version.held.close)


async def test_outcomes_that_a_process_was_not_asked_for_end_it(batcher, capsys):
    version = make_version()
    twice = 2 * framed({"outcomes": [{"error": ["QprError", "first"]}]})
    start_processes(version, 1, script(f"c.sendall({framed({'opened': 'one'})!r}); c.recv(9999); c.sendall({twice!r})"))
    errors = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(str(context["exception"])))
    await version.attach(batcher.plan)
    with pytest.raises(QprError, match=r"^first$"):
        await batcher.run(version, "search", ["pay my bill"])
    await until(lambda: "a process that searches ended" in capsys.readouterr().err)
    await asyncio.to_thread(version.held.close)
    assert errors == ["a process that searches gave outcomes that it was not asked for"]


def test_a_version_leaves_memory_without_a_collection_of_cycles():
    version = make_version()
    start_processes(version, 1, script(f"c.sendall({framed({'opened': 'one'})!r}); c.recv(9999)"))
    version.held.close()
    is_there = weakref.ref(version)
    gc.disable()
    try:
        del version
        assert is_there() is None
    finally:
        gc.enable()


async def until(condition):
    while not condition():
        await asyncio.sleep(0.01)
