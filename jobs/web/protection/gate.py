"""The gate in front of every request: who may ask, how often, how many at a time, and for how long.

request -> Gate -> application, or a refusal -> metrics and a line of log
"""

from __future__ import annotations

import asyncio
import functools
import hmac
import re
import sys
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobs.web.messages.addresses import is_rated, is_timed, is_upkeep, needs_token
from jobs.web.messages.faults import DEFECT, Fault, json_bytes, response
from jobs.web.metrics import Cause, Metrics
from jobs.web.protection.tokens import is_local
from jobs.web.settings import Serving

_OWN_PATHS = ("search", "answer", "feedback", "answers", "questions", "clusters", "reload", "review")
_WATCHED_PATHS = ("healthz", "readyz", "metrics", "docs", "openapi.json")
ENDPOINTS = frozenset((*_OWN_PATHS, *_WATCHED_PATHS))
"""Names in the metrics; any other path is "other", so that a client cannot add names."""

ENDING = Fault(503, "the server ends; ask another one", "ending", {"Connection": "close"})

_CLIENTS = 10_000
"""Client addresses whose rate is remembered; the one that was silent longest is forgotten."""

_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:]+))(?::[0-9]*)?", re.ASCII)
"""A host with its port; an IPv6 address is in brackets (RFC 3986, section 3.2.2)."""

_BYTES_OF_CHARACTER = 12
"""Of a character in an address: four bytes of UTF-8, each as %XX."""


class Rates:
    """Requests of each client address: a bucket that refills ``rate`` a second and holds one second's worth.

    Args:
        rate: requests a second.
        now: clock, in seconds.
    """

    def __init__(self, rate: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Count a request and return 0, or return the seconds until the client may ask again."""
        now = self._now()
        left, since = self._buckets.pop(client, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        allowed = left >= 1
        self._buckets[client] = (left - allowed, now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate


class Gate:
    """ASGI middleware with all limits but those of a body.

    Args:
        app: the application behind it.
        settings: of the server.
        metrics: of the server.
        token: that requests need; None: no token, and only requests to a local name.
        local: the server listens on a loopback address only.
    """

    def __init__(
        self, app: ASGIApp, *, settings: Serving, metrics: Metrics, token: str | None = None, local: bool = True
    ) -> None:
        self._app = app
        self._limits = settings.limits
        self._query_bytes = _BYTES_OF_CHARACTER * settings.limits.max_characters + 1000  # of other parameters
        self._log = settings.log != "none"
        self._log_questions = settings.log == "questions"
        self._metrics = metrics
        self._token = None if token is None else token.encode()
        self._local = local and token is None
        self._rates = None if settings.limits.rate is None else Rates(settings.limits.rate)
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        scope.setdefault("state", {})
        self._in_flight += 1
        self._metrics.in_flight.inc()
        try:
            fault = await self._answer(scope, receive, watched)
            if fault is not None and not status:
                await self._refuse(fault, scope, receive, watched)
        finally:
            self._in_flight -= 1
            self._metrics.in_flight.dec()
            self._record(scope, status, time.perf_counter() - started)

    def count(self, cause: Cause) -> None:
        """Count a refusal."""
        self._metrics.rejects.labels(cause).inc()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Fault | None:
        """Let the application answer; return the fault for which it does not, or not in time."""
        try:
            self._check(scope)
            passed = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope  # uvicorn leaves the body out
            async with asyncio.timeout(self._limits.timeout if is_timed(scope["path"]) else None):
                await self._app(passed, receive, send)
        except Fault as fault:
            return fault
        except TimeoutError:
            text = f"not done after {self._limits.timeout:g} s; repeat the request later or ask fewer questions"
            return Fault(504, text, "timeout", {"Connection": "close"})
        except asyncio.CancelledError:  # the server ends, and its time for running requests is over
            return ENDING
        except Exception as error:  # noqa: BLE001  # a defect must neither end the server nor show its inside
            self._report(error)
            return DEFECT
        return None

    def _check(self, scope: Scope) -> None:
        """Raise the fault of a request that may not pass."""
        headers = dict(scope["headers"])
        path = scope["path"]
        if self._local and not _is_local(headers.get(b"host", b"")):  # a foreign page whose name leads to this address
            raise Fault(421, "this server answers requests to localhost only", "host")
        origin = headers.get(b"origin")
        if _is_of_other_site(headers) or (origin is not None and origin.rpartition(b"/")[2] != headers.get(b"host")):
            raise Fault(403, "pages of other sites may not use this server", "origin")
        if self._rates and is_rated(path):  # before the token, so that nobody can try tokens without end
            wait = self._rates.wait((scope.get("client") or ("",))[0])
            if wait:
                raise Fault(429, "too many requests", "rate", {"Retry-After": str(int(wait) + 1)})
        if not needs_token(path):  # a busy server must be seen as alive
            return
        self._check_token(headers.get(b"authorization", b""))
        if len(scope["query_string"]) > self._query_bytes:
            raise Fault(422, "the question is too long for an address; ask by POST", "address")
        if self._in_flight > self._limits.concurrency and not is_upkeep(scope["method"], path):
            raise Fault(503, "busy; ask again later", "concurrency", {"Retry-After": "1"})

    def _check_token(self, authorization: bytes) -> None:
        """Raise the fault of a request without the token, or with another one, where there is a token."""
        if self._token is None:
            return
        scheme, _, given = authorization.partition(b" ")
        if scheme.lower() != b"bearer":
            text = "a bearer token is needed; send the header Authorization: Bearer TOKEN"
        elif not hmac.compare_digest(given.lstrip(b" "), self._token):
            text = "the bearer token is wrong; use the content of --token-file"
        else:
            return
        raise Fault(401, text, "token", {"WWW-Authenticate": "Bearer"})

    async def _refuse(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        self.count(fault.cause)
        await response(fault)(scope, receive, send)

    def _report(self, error: Exception) -> None:
        """Print kind and place of an error; its message could contain a question."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{PurePath(last.filename).name}:{last.lineno}"
        message = f": {error}" if self._log_questions else ""
        sys.stderr.write(f"error: {type(error).__name__} at {place}{message}. This is a defect\n")

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        first = scope["path"].split("/", 2)[1] if scope["path"].startswith("/") else ""
        endpoint = first if first in ENDPOINTS else "page" if not first else "other"
        self._metrics.seconds.labels(endpoint).observe(seconds)
        self._metrics.requests.labels(endpoint, str(status)).inc()
        if not self._log:
            return
        line: dict[str, Any] = {
            "time": time.time(), "method": scope["method"], "endpoint": endpoint, "status": status,
            "ms": round(seconds * 1000, 3), **scope["state"].get("log", {}),
        }  # fmt: skip
        if not self._log_questions:
            line.pop("questions", None)
        sys.stderr.write(json_bytes(line).decode() + "\n")


def _is_of_other_site(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a page of another site or port asks, by the metadata of browsers, which send no origin with GET.

    Such a page reads no response, but whether an object was loaded shows it whether a question is in the index. A
    person may follow a link to a page here (https://www.w3.org/TR/fetch-metadata).
    """
    if headers.get(b"sec-fetch-site") not in (b"cross-site", b"same-site"):
        return False
    return (headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")) != (b"navigate", b"document")


@functools.lru_cache(64)  # a server has few names, but a client may send any
def _is_local(host: bytes) -> bool:
    """Return whether a ``Host`` names this machine: a name or a loopback address, with a port or without."""
    parts = _HOST.fullmatch(host.decode("latin-1"))
    return parts is not None and is_local(parts["name"] or parts["address"])
