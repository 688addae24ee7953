"""A load generator for HTTP servers on this machine: open loop by a timetable, or closed loop.

requests, rate -> open_loop -> latency of each, from its place in the timetable to the end of the response

One thread and `select`, whose time-out has microseconds: an event loop would add up to a millisecond to each request.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import random
import select
import socket
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from schemas.arrays import Float64s

HEADER_END = b"\r\n\r\n"
_MOST_CONNECTIONS = 500
"""Maximum number of connections of an open loop; a request that waits for one is late by that time."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Outcome of a load.

    Attributes:
        seconds: latency of each request.
        statuses: number of responses by status; 0 is a broken connection.
        wall_s: time from the first request to the last response.
    """

    seconds: Float64s
    statuses: dict[int, int]
    wall_s: float

    @property
    def failures(self) -> int:
        """Return the number of requests without status 200."""
        return sum(count for status, count in self.statuses.items() if status != 200)

    def cells(self) -> dict[str, Any]:
        """Return the columns of a table."""
        p50, p99, p999 = (1000 * np.percentile(self.seconds, [50, 99, 99.9])).tolist()
        done = len(self.seconds) / self.wall_s
        failed = ", ".join(f"{count} x {status}" for status, count in sorted(self.statuses.items()) if status != 200)
        return {"done_per_s": done, "p50_ms": p50, "p99_ms": p99, "p999_ms": p999, "failures": failed or "0"}


def get(path: str, question: str) -> bytes:
    """Return the request ``GET path?k=10&q=question``."""
    return f"GET {path}?k=10&q={quote(question)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def post(path: str, document: object) -> bytes:
    """Return the request ``POST path`` with a JSON body."""
    body = json.dumps(document).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def open_loop(port: int, requests: Sequence[bytes], rate: float, seed: int) -> Outcome:
    """Send requests at random times, ``rate`` a second on average, whether earlier ones are done or not."""
    gaps = np.random.default_rng(seed).exponential(1 / rate, len(requests))
    return _Load(port).run(requests, np.cumsum(gaps).tolist(), _MOST_CONNECTIONS)


def closed_loop(port: int, requests: Sequence[bytes], connections: int) -> Outcome:
    """Send requests as fast as the server answers, one at a time on each connection."""
    return _Load(port).run(requests, None, connections)


class _Load:
    """Connections to a port, and the requests on them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[socket.socket] = []
        self._busy: dict[socket.socket, tuple[float, bytearray]] = {}
        self._seconds: list[float] = []
        self._statuses: collections.Counter[int] = collections.Counter()

    def run(self, requests: Sequence[bytes], times: Sequence[float] | None, connections: int) -> Outcome:
        """Send all requests: at ``times``, or (None) as soon as one of the connections is free."""
        start = time.perf_counter()
        sent = 0
        while sent < len(requests) or self._busy:
            now = time.perf_counter() - start
            wait = 1.0
            while sent < len(requests) and len(self._busy) < connections:
                due = now if times is None else times[sent]
                if due > now:
                    wait = due - now
                    break
                self._send(requests[sent], start + due)
                sent += 1
            for connection in select.select([*self._busy], [], [], wait)[0]:
                self._receive(connection)
        wall = time.perf_counter() - start
        for connection in self._idle:
            connection.close()
        return Outcome(np.array(self._seconds), dict(self._statuses), wall)

    def _send(self, request: bytes, due: float) -> None:
        connection = self._open() or socket.create_connection(("127.0.0.1", self._port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(request)
        self._busy[connection] = due, bytearray()

    def _open(self) -> socket.socket | None:
        """Return an idle connection that the server has not closed, as HTTP clients do; None where there is none."""
        while self._idle:
            connection = self._idle.pop()
            if not select.select([connection], [], [], 0)[0]:  # the end of a connection can be read
                return connection
            connection.close()
        return None

    def _receive(self, connection: socket.socket) -> None:
        due, content = self._busy[connection]
        try:
            part = connection.recv(1 << 20)
        except OSError:
            part = b""
        content += part
        if part and not _is_whole(content):
            return
        del self._busy[connection]
        self._seconds.append(time.perf_counter() - due)
        self._statuses[int(content[9:12]) if part else 0] += 1
        if part and not _closes(content):
            self._idle.append(connection)
        else:
            connection.close()


def _closes(content: bytearray) -> bool:
    """Return whether the server closes the connection after this response, which is no failure of the next request."""
    return b"\r\nconnection: close\r\n" in content[: content.find(HEADER_END) + 2].lower()


def _is_whole(content: bytearray) -> bool:
    """Return whether a response is complete; all servers here send its length."""
    end = content.find(HEADER_END)
    if end < 0:
        return False
    place = content.lower().find(b"content-length: ", 0, end)
    return len(content) >= end + len(HEADER_END) + int(content[place + 16 : content.find(b"\r\n", place)])


def shortened(text: str) -> str:
    """Return a question without one of its words, so that it is another question with near ones."""
    words = text.split()
    if len(words) > 2:
        del words[random.Random(text).randrange(len(words))]
    return " ".join(words)[:500]
