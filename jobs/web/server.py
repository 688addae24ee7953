"""The process that serves an index until it is stopped.

settings, index URL -> serve -> socket, versions, application -> requests, until SIGTERM
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from collections.abc import Iterator

import uvicorn

from jobs.web.app import create_app
from jobs.web.exchange import Exchange
from jobs.web.protection.gate import Gate
from jobs.web.protection.tokens import checked_token, is_local
from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions.leases import Versions
from jobs.web.versions.opening import Opener, open_version
from schemas.errors import QprError

_CONNECTIONS = 2000
"""Open connections, idle ones included; each takes a file descriptor and 50 kB."""

_IDLE_S = 75
"""Seconds until an idle connection is closed, more than the usual 60 of clients and proxies, since a request that is
sent while its connection is closed fails. uvicorn's default is 5 s."""

_SWITCH_S = 0.0005
"""Seconds after which a thread that computes gives way to the event loop. Beside a client with 512 questions a request,
the median of single ones was 31 to 334 ms in three runs with Python's 5 ms; with .5 ms it was 13 to 42 ms."""


def serve(url: str, settings: Serving, open_searcher: Opener, certificate: str | None = None) -> None:
    """Serve an index until SIGTERM or SIGINT; requests that run then are finished.

    Args:
        url: of the index.
        settings: of the server.
        open_searcher: opens the index and its later versions, with the certificate.
        certificate: URL of the certificate; None: only questions of the index itself are answered.

    Raises:
        QprError: the address is in use, the token file is no good, or the index cannot be opened.
        UsageError: other machines could connect without a token.
    """
    token = checked_token(settings.host, settings.token_file)
    state = State(settings.state)
    with _listening(settings) as listener, _giving_way():
        first = open_version(url, open_searcher, certificate=certificate, vary_by=settings.vary_by)
        service = Service(settings, Versions(first), state)
        del first  # else it would stay in memory after an exchange
        gc.collect()
        gc.freeze()
        exchange = Exchange(service, url, open_searcher, certificate)
        app = create_app(service, exchange)
        gate = Gate(app, settings=settings, metrics=service.metrics, token=token, local=is_local(settings.host))
        config = uvicorn.Config(
            gate,
            http="httptools",
            loop="uvloop" if sys.platform != "win32" else "asyncio",
            ws="none",
            access_log=False,
            log_level="error",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_CONNECTIONS,
            backlog=_CONNECTIONS,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=int(settings.drain),
        )
        host, port = listener.getsockname()[:2]
        name = f"[{host}]" if ":" in host else host
        greeting = f"serving {url} at http://{name}:{port}, version {service.versions.current.name}"
        _Server(config, exchange, greeting).run([listener])


@contextlib.contextmanager
def _giving_way() -> Iterator[None]:
    """Shorten the interval after which threads of this process give way, until the block ends."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextlib.contextmanager
def _listening(settings: Serving) -> Iterator[socket.socket]:
    """Yield a socket with the address of the settings, taken before the index is opened."""
    place = f"{settings.host}:{settings.port}"
    try:
        [(family, *_, address), *_] = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
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


class _Server(uvicorn.Server):
    """A server that ends by itself after a signal, and looks for a new version on SIGHUP."""

    def __init__(self, config: uvicorn.Config, exchange: Exchange, greeting: str) -> None:
        super().__init__(config)
        self._greeting = greeting
        self._exchange = exchange
        self._reloads = set[asyncio.Task[str]]()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then print the address."""
        await super().startup(sockets)
        sys.stderr.write(f"{self._greeting}\n")
        sys.stderr.flush()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals in the event loop; after the last request, the process ends with 0."""
        loop = asyncio.get_running_loop()
        handled = {signal.SIGTERM: self._stop, signal.SIGINT: self._stop, signal.SIGHUP: self._reload}
        for number, handler in handled.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self.force_exit = self.should_exit  # the second signal does not wait
        self.should_exit = True

    def _reload(self) -> None:
        task = asyncio.ensure_future(self._exchange.reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)
