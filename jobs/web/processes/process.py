"""The server's end of a process that searches.

index, certificate -> SearchProcess -> messages -> outcomes
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from jobs.web.processes.messages import Frames, call_message, framed, outcomes_of, received
from jobs.web.versions.calls import Call
from jobs.web.versions.outcomes import Outcome
from jobs.workflows.warehouses.version_reading import Readable
from schemas.errors import QprError

_END_S = 5.0
"""Seconds that a process has to end after its connection is closed."""

Done = Callable[[list[Outcome] | None], None]
"""Takes the outcomes of a call; None: the process ended before it had any."""


class _Running(NamedTuple):
    """A call that a process makes, for requests of which these are the questions."""

    call: Call
    parts: Sequence[Sequence[str]]
    done: Done


class SearchProcess(asyncio.Protocol):
    """A process that searches one version; it makes one call at a time.

    Args:
        place: of the index and its certificate.
        version: name of the version that is there.
        command: command line of the process, to which the descriptor of its connection is added.
    """

    def __init__(self, place: Readable, version: str, command: Sequence[str]) -> None:
        self._place = place
        self._frames = Frames()
        self._running: _Running | None = None
        self._blocked = frozenset[str]()
        self._transport: asyncio.WriteTransport | None = None
        self._on_end: Callable[[SearchProcess], None] = lambda _: None
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._popen = subprocess.Popen(  # noqa: S603  # a module of this program
                [*command, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
                start_new_session=True,  # Ctrl-C is for the server alone, also before the process ignores it
            )
        with contextlib.suppress(BrokenPipeError):  # it has ended, as `wait` reports
            self._socket.sendall(framed({"index": place.index, "certificate": place.certificate, "version": version}))

    def wait(self) -> None:
        """Wait until the process has opened the version.

        Raises:
            QprError: it cannot, or has ended.
        """
        if (message := next(received(self._socket), None)) is None:
            fault = f"a process that searches ended at its start {self.status()}"
            raise QprError(f"{self._place.index}: {fault}. Look at its lines above, if it has any")
        if "refused" in message:
            raise QprError(message["refused"])

    async def attach(self, on_end: Callable[[SearchProcess], None]) -> None:
        """Make the connection part of the event loop.

        Args:
            on_end: called when the process has ended.
        """
        self._on_end = on_end
        await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=self._socket)

    @property
    def is_connected(self) -> bool:
        """Return whether it can be asked."""
        return self._transport is not None

    @property
    def is_idle(self) -> bool:
        """Return whether it can be asked and makes no call."""
        return self.is_connected and self._running is None

    def search(self, call: Call, parts: Sequence[Sequence[str]], done: Done) -> None:
        """Make a call for requests, of which these are the questions; it has to be idle."""
        assert self._transport is not None
        self._running = _Running(call, parts, done)
        blocked = self._blocked if call.listing is None else call.listing.blocked
        if blocked is not self._blocked:
            self._transport.write(framed({"do": "block", "ids": [*blocked - self._blocked]}))
            self._blocked = blocked
        self._transport.write(framed(call_message(call, parts)))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        """Give outcomes to the requests that wait for them; any error closes the connection, and a thread searches.

        Raises:
            ValueError: the process was asked for nothing, or gave another number of outcomes or results.
        """
        for message in self._frames.feed(data):
            if (running := self._running) is None:  # the next request would get it
                raise ValueError("a process that searches gave outcomes that it was not asked for")
            results = outcomes_of(running.call, message, running.parts)
            self._running = None
            running.done(results)

    def connection_lost(self, _: Exception | None) -> None:
        """Report the end of the process."""
        self._transport = None
        running, self._running = self._running, None
        self._on_end(self)
        if running is not None:
            running.done(None)

    def status(self) -> str:
        """Return how the process ended, as words; it has to be about to end."""
        try:
            code = self._popen.wait(_END_S)
        except subprocess.TimeoutExpired:
            return "but still runs"
        return f"by signal {-code}" if code < 0 else f"with status {code}"

    def end(self) -> None:
        """Close the connection, after which the process ends; it can be called in any thread, and more than once."""
        with contextlib.suppress(OSError):  # it has ended
            self._socket.shutdown(socket.SHUT_RDWR)
        try:
            self._popen.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        if self._transport is None:
            self._socket.close()
