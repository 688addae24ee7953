"""Connections of the server: bytes and seconds of a request's head, seconds without progress, their number.

bytes of a client -> Connection -> requests for the gate; each second -> Connection.check -> closed ones
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import struct
import sys
import termios
from collections.abc import Callable
from typing import Any, Final

from httptools import HttpParserError, HttpParserInvalidURLError, HttpParserUpgrade, HttpRequestParser
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from jobs.web.messages.faults import Fault, response
from jobs.web.metrics import Cause

MOST_CONNECTIONS: Final = 2000
"""Open connections, idle ones included; each takes a file descriptor and 50 kB."""

_SURPLUS: Final = 200
"""Connections beyond them whose requests get 503; more are closed without a word."""

MOST_HEAD: Final = 65_536
"""Bytes of a request's head. The parser copies an unfinished header with each piece of it that comes: at 50 MB all
other clients wait for a second."""

HEAD_S: Final = 10.0
"""Seconds from a connection's start, or from the first byte of a later request, to the end of the request's head.

They begin after the responses to all earlier requests, before which the server may not read the rest of the head."""

STALLED_S: Final = 10.0
"""Seconds after which a connection is closed whose client takes nothing of a response."""

_INVALID = Fault(400, "this is no HTTP request", "http")
_HOSTS = Fault(400, "the request has more than one Host header", "http")
_URL = Fault(
    400,
    "the address of the request is invalid; write characters that are not ASCII as %XX, for example by "
    "curl --get --data-urlencode, and begin its path with /",
    "http",
)
_TUNNEL = Fault(400, "this server is no proxy; send requests to it without CONNECT", "http")
_LARGE = Fault(431, f"the head of the request is larger than {MOST_HEAD // 1024} KiB", "head")
_CUT = Fault(400, "the connection ended before the body of the request", "disconnected")
_LATE = Fault(408, f"the head of the request was not complete after {HEAD_S:g} s", "head")
_FULL = Fault(503, "too many connections; ask again later", "connections", {"Retry-After": "1", "Connection": "close"})


class Connection(HttpToolsProtocol):
    """A connection that is closed if its client sends endless or unfinished heads, or does not read.

    Args:
        given: of the protocol.
        count: called with the cause of each refusal.
        named: of the protocol.
    """

    def __init__(self, *given: Any, count: Callable[[Cause], None], **named: Any) -> None:
        super().__init__(*given, **named)
        self._count = count
        self._head = 0  # bytes since the last complete head or piece of a body
        self._is_in_head = False  # a part of a head has come
        self._deadline = math.inf  # for a complete head
        self._fault = _INVALID
        self._responding = 0  # requests that have no response yet
        self._due: Fault | None = None  # the response after theirs
        self._unread, self._progress = 0, 0.0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._deadline = self.loop.time() + HEAD_S
        surplus = len(self.connections) - MOST_CONNECTIONS
        if surplus > 0:
            self.app = self._refuse_request
        if surplus > _SURPLUS:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read bytes, of which at most `MOST_HEAD` may be an unfinished head, or trailers after a body."""
        if self._due is not None:  # bytes that nobody reads would reset the connection when it is closed
            return
        if self.cycle is not None and self.cycle.response_complete:  # later bytes gain no time
            self._deadline = min(self._deadline, self.loop.time() + HEAD_S)
        self._head += len(data)
        self._unset_keepalive_if_required()
        self._read(memoryview(data))
        if self._head > MOST_HEAD and self._due is None and not self.transport.is_closing():
            self._refuse(_LARGE)

    def _read(self, data: memoryview) -> None:
        """Read bytes; a request to change the protocol is answered in this one, as RFC 9110 (section 7.8) permits.

        Java's HttpClient and `curl --http2` send such requests. The parser would leave out their body, so it reads the
        head once more without the header.
        """
        try:
            while True:
                try:
                    self.parser.feed_data(data)
                except HttpParserUpgrade as upgrade:
                    head, data = self._head_without_upgrade(), data[upgrade.args[0] :]
                    self.parser = HttpRequestParser(self)
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as that of the protocol
                    self.parser.feed_data(head)
                else:
                    return
        except HttpParserError:
            self.send_400_response("")

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/" + version]
        lines += [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self._is_in_head = True

    def on_headers_complete(self) -> None:
        """Begin a request with one host whose head is not too large; it came with bytes of both bodies beside it."""
        if self.parser.get_method() == b"CONNECT":
            self._fault = _TUNNEL
            raise _TUNNEL
        if self.parser.should_upgrade():  # the head is read again
            return
        if self._head > MOST_HEAD:
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > MOST_HEAD:
                self._fault = _LARGE
                raise _LARGE
        if sum(name == b"host" for name, _ in self.headers) > 1:  # the gate and a proxy could read different ones
            self._fault = _HOSTS
            raise _HOSTS
        self._fault = _URL  # nothing else can fail now
        super().on_headers_complete()
        self._fault, self._head, self._is_in_head, self._deadline = _INVALID, 0, False, math.inf
        self._responding += 1

    def on_body(self, body: bytes) -> None:
        """Read a piece of a body."""
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request; where it had its response before its body, the connection is idle from now on."""
        if self.parser.should_upgrade():  # its body follows
            return
        self._head = 0
        if self.cycle.response_complete:
            self._deadline = self.loop.time() + self.timeout_keep_alive
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # that of the protocol
        """Refuse bytes that are no request, or too many; called while the error of the parser is handled."""
        self._refuse(_URL if isinstance(sys.exception(), HttpParserInvalidURLError) else self._fault)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's protocol returns one
        """Return whether the connection stays open for the responses to a client that sends no more bytes.

        It is closed after the last of them: nothing shows whether the client still reads.
        """
        if self._is_body_missing():
            self._respond_last(_CUT)  # the application counts it
        elif self._responding and self._due is None:
            self.cycle.keep_alive = False
        return self._responding > 0

    def _is_body_missing(self) -> bool:
        """Return whether the last request has no response yet, and its body has not ended."""
        return self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete

    def check(self) -> None:
        """Close the connection if it is late or makes no progress."""
        now = self.loop.time()
        if now > self._deadline and not self.transport.is_closing():
            if self._is_in_head:
                self._refuse(_LATE)
            self.transport.close()
        unread = _unread_bytes(self.transport)
        if unread != self._unread:
            self._unread, self._progress = unread, now
        elif unread and now - self._progress > STALLED_S:
            self._count("stalled")
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Go on to the next request, or to the refusal of the bytes after the last one."""
        self._responding -= 1
        super().on_response_complete()
        if self._is_in_head and not self._responding:
            self._deadline = self.loop.time() + HEAD_S
        if self._due is not None and not self._responding and not self.transport.is_closing():
            self._write_refusal(self._due)

    def _refuse(self, fault: Fault) -> None:
        """Refuse the bytes after the last complete request."""
        self._count(fault.cause)
        self._respond_last(fault)

    def _respond_last(self, fault: Fault) -> None:
        """Close the connection with a refusal, after the responses to all complete requests."""
        if self._is_body_missing():
            self._responding -= 1  # the refusal is the response to this request
            if self.pipeline:
                self.pipeline.popleft()  # the one that came last
        if self._responding:
            self._due = fault
        else:
            self._write_refusal(fault)

    def _write_refusal(self, fault: Fault) -> None:
        answer = response(fault)
        headers = (*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close"))
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        self.transport.write(b"".join([STATUS_LINE[fault.status], *lines, b"\r\n", answer.body]))
        self.transport.close()

    async def _refuse_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._count(_FULL.cause)
        await response(_FULL)(scope, receive, send)


def _unread_bytes(transport: Any) -> int:
    """Return the bytes of responses that the client has not taken: those in this process and in its kernel.

    The kernel takes more only after half of its buffer, which can have megabytes, so that alone shows no progress.
    """
    unsent: int = transport.get_write_buffer_size()
    if unsent:
        with contextlib.suppress(OSError):  # a system that does not report it
            queued = fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
            unsent += struct.unpack("i", queued)[0]
    return unsent
