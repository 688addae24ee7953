"""The processes that search one version of an index, each replaced when it ends.

Version, number -> start_processes -> SearchProcesses -> outcomes of calls
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
from collections.abc import Callable, Sequence

from jobs.web.processes.process import Done, SearchProcess
from jobs.web.versions.calls import Call
from jobs.web.versions.leases import Version
from schemas.errors import QprError

_AGAIN_S = 30.0
"""Seconds until a process that could not be replaced is tried again."""


def start_processes(version: Version, count: int, command: Sequence[str]) -> None:
    """Start the processes that search a version until it is no longer held.

    Raises:
        QprError: one of them cannot open the version.
    """
    if not count:
        return
    version.processes = processes = SearchProcesses(version, count, command)
    version.held.callback(processes.close)


class SearchProcesses:
    """Processes that search a version.

    Args:
        version: that each of them opens.
        count: number of processes.
        command: command line of a process.

    Raises:
        QprError: one of them cannot open the version.
    """

    def __init__(self, version: Version, count: int, command: Sequence[str]) -> None:
        self._new = functools.partial(SearchProcess, version.place, version.name, command)  # no cycle with the version
        self._attached: list[SearchProcess] = []
        self._tasks = set[asyncio.Task[None]]()
        self._changed: Callable[[], None] = lambda: None
        self._is_closed = False
        with contextlib.ExitStack() as stack:
            self._processes = [self._started(stack) for _ in range(count)]
            for process in self._processes:
                process.wait()
            stack.pop_all()

    def _started(self, stack: contextlib.ExitStack) -> SearchProcess:
        process = self._new()
        stack.callback(process.end)
        return process

    async def attach(self, changed: Callable[[], None]) -> None:
        """Make their connections part of the event loop.

        Args:
            changed: called when one has started or ended, so that what waits is searched by those that are free now.
        """
        self._changed = changed
        for process in self._processes:
            await self._attach(process)

    @property
    def alive(self) -> int:
        """Return the number of processes that can search; not those whose connection is still being made."""
        return sum(process.is_connected for process in self._attached)

    @property
    def idle(self) -> int:
        """Return the number of processes that search nothing."""
        return sum(process.is_idle for process in self._attached)

    def search(self, call: Call, parts: Sequence[Sequence[str]], done: Done) -> None:
        """Make a call in an idle process, for requests of which these are the questions."""
        next(process for process in self._attached if process.is_idle).search(call, parts, done)

    def close(self) -> None:
        """End all processes; it can be called in any thread."""
        self._is_closed = True
        for process in list(self._processes):
            process.end()

    async def _attach(self, process: SearchProcess) -> None:
        self._attached.append(process)  # it can end as soon as its connection is read
        await process.attach(self._lose)
        self._changed()

    def _lose(self, process: SearchProcess) -> None:
        """Forget a process that has ended, and start another one."""
        self._attached.remove(process)
        self._changed()
        if not self._is_closed:
            task = asyncio.ensure_future(self._replace(process))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _replace(self, process: SearchProcess) -> None:
        status = await asyncio.to_thread(process.status)
        sys.stderr.write(f"a process that searches ended {status}; others search until another one has started\n")
        while not self._is_closed:
            try:
                other = await asyncio.to_thread(self._another, process)
            except (QprError, OSError) as error:
                if not self._is_closed:  # else `close` has ended it
                    sys.stderr.write(f"no other process could start: {error}; the next attempt is in {_AGAIN_S:g} s\n")
                    await asyncio.sleep(_AGAIN_S)
            else:
                if not self._is_closed:
                    await self._attach(other)
                return

    def _another(self, process: SearchProcess) -> SearchProcess:
        """Start a process in place of another one."""
        with contextlib.ExitStack() as stack:
            other = self._started(stack)
            self._processes.append(other)  # so that `close` does not wait until it has opened the version
            stack.callback(self._processes.remove, other)
            if self._is_closed:  # meanwhile
                other.end()
            other.wait()
            stack.pop_all()
        self._processes.remove(process)
        return other
