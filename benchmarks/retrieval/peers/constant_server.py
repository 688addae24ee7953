"""A server that answers each request with the same few bytes: the time that a machine and its web server need at least.

Run: python -m benchmarks.retrieval.peers.constant_server PORT
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

_BODY = b'{"hits": []}'
_HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(_BODY)).encode())]


async def respond(
    scope: MutableMapping[str, Any],
    _receive: Callable[[], Awaitable[Any]],
    send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
) -> None:
    """Answer a request of HTTP."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send({"type": "http.response.body", "body": _BODY})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    uvicorn.run(respond, port=int(sys.argv[1]), log_level="error", lifespan="off")
