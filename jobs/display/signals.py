"""Ctrl-C and the SIGTERM of a scheduler: the command cleans up and ends.

signals -> stop_signals -> KeyboardInterrupt, numbers of the received signals
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Raise `KeyboardInterrupt` inside the block for SIGINT and SIGTERM, and yield a list of the numbers received.

    Beam turns the interruption into an error of the pipeline and Typer into an exit, so the exception is no proof of a
    signal. A signal that the parent process ignores stays ignored, as in a shell's background job.
    """
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield received
        return
    handled = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in handled}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
