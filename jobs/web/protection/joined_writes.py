"""Responses whose head leaves with their body.

head, body -> JoinedWrites -> one write of the transport
"""

from __future__ import annotations

import asyncio
from typing import Any


class JoinedWrites:
    """A transport that writes the head of a response together with what follows it.

    uvicorn writes them one after the other, and uvloop sends each at once. That is one more call of the kernel, and it
    wakes the client for a head without a body: a tenth of the time of a question of the index. A head that nothing
    follows in the same step of the event loop is written after that step.

    Args:
        transport: of the connection; all other calls go to it.
        loop: of the connection.
    """

    __slots__ = ("_head", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write bytes, or keep the head of a response until the next ones."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.writelines((head, data))
        elif data.startswith(b"HTTP/1.") and data.endswith(b"\r\n\r\n"):
            self._head = data
            self._loop.call_soon(self._write_head)
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Write a head that is kept, and close the transport."""
        self._write_head()
        self._transport.close()

    def _write_head(self) -> None:
        if self._head and not self._transport.is_closing():
            self._transport.write(self._head)
        self._head = b""
