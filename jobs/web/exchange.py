"""Exchange of the index while it is served.

index or warehouse -> Exchange.watch -> open_version in a thread -> Versions.swap, or a refusal that is reported
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from jobs.web.service import Service
from jobs.web.versions.leases import Version
from jobs.web.versions.opening import Opener, open_version
from jobs.web.versions.outcomes import use_one_thread
from jobs.workflows.warehouses.version_reading import Readable
from schemas.errors import QprError

_AGAIN = 60.0
"""Seconds until a refused version is tried again: a copy may still be under way."""


class Exchange:
    """New versions of an index for a service.

    Args:
        service: that answers.
        readable: place of the index, where new versions are published.
        open_searcher: opens one with its certificate.
        start: starts the processes that search one.
    """

    def __init__(
        self,
        service: Service,
        readable: Readable,
        open_searcher: Opener,
        start: Callable[[Version], None] = lambda _: None,
    ) -> None:
        self._service = service
        self._readable = readable
        self._reported = ("", "")
        self._open, self._start = open_searcher, start
        self._busy = asyncio.Lock()
        self._refused = ("", 0.0)

    async def watch(self) -> None:
        """Look for a new version every ``poll`` seconds, for ever."""
        while self._service.settings.poll:
            await asyncio.sleep(self._service.settings.poll)
            await self.reload(force=False)

    async def reload(self, *, force: bool = True) -> str:
        """Open the version that is published and let it answer; return "swapped", "unchanged" or why it was refused.

        Args:
            force: try a version that was refused a short time ago.
        """
        async with self._busy:
            version = await self._attempt(force)
            if isinstance(version, str):
                return self._report(version)
            if version is None:
                return "unchanged"
            self._refused, self._reported = ("", 0.0), ("", "")
            await version.attach(self._service.batcher.plan)
            self._service.swap(version)
            del version
            await self._service.auditing.refresh()
            gc.collect()  # else garbage that leads to the old version would stay; it takes .2 ms, the rest is frozen
            gc.freeze()  # a later collection would stop all threads while it visits every object of the version
            sys.stderr.write(f"serving version {self._service.versions.current.name} now\n")
            return "swapped"

    def _attempt(self, force: bool) -> asyncio.Future[Version | str | None]:
        """Open a version in a thread; return its outcome to come, or why it was refused.

        The end of the server does not wait for the thread: to open a large version can take minutes.
        """
        opened = Future[Version | str | None]()
        opened.set_running_or_notify_cancel()

        def attempt() -> None:
            use_one_thread()
            try:
                outcome: Version | str | None = self._opened(force)
            except QprError as error:
                outcome = f"refused: {error}"
            except Exception as error:  # noqa: BLE001  # the old version answers, whatever is wrong with the new one
                outcome = f"refused: {type(error).__name__}: {error}"
            opened.set_result(outcome)

        threading.Thread(target=attempt, name="open", daemon=True).start()
        return asyncio.wrap_future(opened)

    def _report(self, text: str) -> str:
        self._service.metrics.swaps.labels("refused").inc()
        run_id, _ = self._refused
        if (run_id, text) != self._reported:  # once, not at every check
            sys.stderr.write(f"the new version was {text}; the old one answers on\n")
        self._reported = run_id, text
        return text

    def _opened(self, force: bool) -> Version | None:
        """Return the version that is published; None if it is the one that answers, or was refused a short time ago."""
        run_id = self._readable.now().runs()
        refused, since = self._refused
        if run_id == self._service.versions.current.run_id:
            self._refused, self._reported = ("", 0.0), ("", "")
            return None
        if run_id == refused and not force and time.monotonic() - since < _AGAIN:
            return None
        self._refused = run_id, time.monotonic()
        version, present = open_version(self._readable, self._open), self._service.columns
        with contextlib.ExitStack() as stack:
            stack.callback(version.held.close)
            if version.columns != present:
                new, served = (", ".join(columns) or "no column" for columns in (version.columns, present))
                differing = f"the new version varies by {new}, the served one by {served}"
                raise QprError(f"{self._readable.url}: {differing}. Start the server again")
            self._start(version)
            stack.pop_all()
        return version
