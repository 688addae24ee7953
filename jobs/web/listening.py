"""Sockets and processes of servers.

host, port -> listening -> socket; application, socket -> Server.run -> requests, until SIGTERM
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, TextIO, cast

import uvicorn

from jobs.web.protection.connections import MOST_CONNECTIONS, Connection
from jobs.web.protection.gate import Gate
from schemas.errors import QprError

_IDLE_S = 75
"""Seconds until an idle connection is closed, more than the usual 60 of clients and proxies, since a request that is
sent while its connection is closed fails. uvicorn's default is 5 s."""

_HEADERS: Final = [
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
]
"""Headers of all responses: browsers guess no type, and load none as an object of another site, also those that send no
metadata of requests, by which the gate refuses them. No browser or proxy keeps questions and answers on a disk, where
they would stay after an erasure."""


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket with an address, taken before the work of opening what is served.

    Args:
        host: address to listen on.
        port: 0 is any free one.

    Raises:
        QprError: there is no such address, or it is in use.
    """
    place = f"{host}:{port}"
    try:
        [(family, *_, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise QprError(f"{place}: {error.strerror}. Give another --host") from error
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise QprError(f"{place}: {error.strerror}. Give another --host or --port") from error
        yield listener


def address_of(listener: socket.socket) -> str:
    """Return the URL of a socket."""
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


class _Lines:
    """A stream of lines about a server, which goes on where they cannot be written.

    Else a full disk or a log collector that has ended would close connections after their responses, and end the looks
    for new versions and for alarms.

    Args:
        stream: to which they are written.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text, or drop it."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand all text to the system, or drop it."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the stream itself."""
        return getattr(self._stream, name)


_TICKS: Final = 10
"""Ticks of the server, of .1 s each, between two looks at its connections."""


class Server(uvicorn.Server):
    """A server that ends by itself after a signal, and looks for a new version on SIGHUP.

    Args:
        app: the gate with the application.
        greeting: line on stderr once the server listens.
        drain: seconds for running requests after a signal.
        reload: looks for a new version; None: SIGHUP does nothing.
    """

    def __init__(
        self, app: Gate, greeting: str, *, drain: float, reload: Callable[[], Awaitable[str]] | None = None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(Any, functools.partial(Connection, count=app.count)),
                loop="uvloop",
                ws="none",
                access_log=False,
                log_level="error",
                server_header=False,
                headers=_HEADERS,
                proxy_headers=False,
                backlog=MOST_CONNECTIONS,
                timeout_keep_alive=_IDLE_S,
                timeout_graceful_shutdown=cast(int, drain),  # parts of a second are good too
            )
        )
        self._greeting = greeting
        self._look = reload
        self._reloads = set[asyncio.Task[str]]()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal, also where stderr cannot be written."""
        with contextlib.redirect_stderr(cast(TextIO, _Lines(sys.stderr))):
            super().run(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then print the address."""
        await super().startup(sockets)
        sys.stderr.write(f"{self._greeting}\n")
        sys.stderr.flush()

    async def on_tick(self, counter: int) -> bool:
        """Close connections that are late, once a second."""
        if counter % _TICKS == 0:
            for connection in list(self.server_state.connections):
                cast(Connection, connection).check()
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals in the event loop; after the last request, the process ends with 0."""
        loop = asyncio.get_running_loop()
        handled = {signal.SIGTERM: self._stop, signal.SIGINT: self._stop, signal.SIGHUP: self._reload}
        before = {number: signal.getsignal(number) for number in handled}
        for number, handler in handled.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)
                signal.signal(number, before[number])  # the loop leaves that of the system, which ends the process

    def _stop(self) -> None:
        self.force_exit = self.should_exit  # the second signal does not wait
        self.should_exit = True

    def _reload(self) -> None:
        if self._look is None:
            return
        task = asyncio.ensure_future(self._look())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)
