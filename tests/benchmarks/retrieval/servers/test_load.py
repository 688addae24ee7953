"""The load generator against a server with known delays."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest

from benchmarks.retrieval.servers.load import closed_loop, get, open_loop, shortened


class Server:
    """Answers requests one by one, each after 20 ms; /bad gets 503, /gone no response, /last and /idle a last one.

    Only the response to /last says that it is the last one.
    """

    def __init__(self) -> None:
        self.port = 0
        self.started = threading.Event()
        self.loop = asyncio.new_event_loop()
        self.lock = asyncio.Lock()
        threading.Thread(target=self.loop.run_until_complete, args=(self._run(),), daemon=True).start()
        assert self.started.wait(60)

    async def _run(self) -> None:
        self.stopped = asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.started.set()
        await self.stopped.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.read(65_536):
            async with self.lock:
                await asyncio.sleep(0.02)
            path = head.split()[1]
            if path.startswith(b"/gone"):
                break
            status = b"503 Busy" if path.startswith(b"/bad") else b"200 OK"
            last = b"Connection: close\r\n" if path.startswith(b"/last") else b""
            if path.startswith(b"/idle"):  # the response and the end of the connection arrive together
                writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            writer.write(b"HTTP/1.1 " + status + b"\r\n" + last + b"Content-Length: 3\r\n\r\nabc")
            if last or path.startswith(b"/idle"):
                break
        writer.close()


@pytest.fixture
def port() -> Iterator[int]:
    server = Server()
    yield server.port
    server.loop.call_soon_threadsafe(server.stopped.set)


def test_a_slow_response_does_not_delay_the_timetable_but_counts_for_those_behind_it(port: int) -> None:
    """Thirty requests within about 30 ms wait for one another, though none waits to be sent."""
    outcome = open_loop(port, [get("/x", "a")] * 30, rate=1000, seed=0)
    assert outcome.statuses == {200: 30}
    assert max(outcome.seconds) > 0.3
    assert outcome.failures == 0


def test_a_closed_loop_has_as_many_requests_at_a_time_as_connections(port: int) -> None:
    outcome = closed_loop(port, [get("/x", "a")] * 10, connections=1)
    assert len(outcome.seconds) == 10
    assert min(outcome.seconds) >= 0.019
    assert outcome.wall_s >= 0.19


def test_refusals_and_broken_connections_are_failures(port: int) -> None:
    requests = [get("/x", "a"), get("/bad", "a"), get("/gone", "a"), get("/x", "b")]
    outcome = closed_loop(port, requests, connections=2)
    assert outcome.statuses == {200: 2, 503: 1, 0: 1}
    assert outcome.failures == 2


def test_a_connection_that_the_server_closes_after_a_response_is_not_used_again(port: int) -> None:
    outcome = closed_loop(port, [get("/last", "a"), get("/x", "b"), get("/last", "a"), get("/x", "c")], connections=1)
    assert outcome.statuses == {200: 4}


def test_a_connection_that_the_server_closed_while_it_was_idle_is_not_used_again(port: int) -> None:
    outcome = open_loop(port, [get("/idle", "a"), get("/x", "b")] * 4, rate=5, seed=0)
    assert outcome.statuses == {200: 8}


def test_a_shortened_question_is_another_one_with_the_same_words() -> None:
    assert shortened("how do I pay my bill") == shortened("how do I pay my bill")
    assert len(shortened("how do I pay my bill").split()) == 5
    assert shortened("pay bill") == "pay bill"
