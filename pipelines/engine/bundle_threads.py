"""Threads that Beam starts for each bundle.

options of a run -> spare_threads -> Beam's worker in this process, changed

For Beam 2.72, the oldest version that setup.py allows, to 2.77, the newest tested.
"""

from __future__ import annotations

import concurrent.futures
import functools
import threading
import types
from collections.abc import Callable
from typing import Any, Self

from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.worker import bundle_processor, statesampler

from pipelines.engine.beam_patches import IN_PROCESS


def spare_threads(options: PipelineOptions) -> None:
    """Make the in-process runner start no threads for a bundle, and other workers in this process daemons alone.

    A thread measures the time of each step: it looks which one works, every 2 ms at first and every 200 ms in a long
    bundle, and the end of the bundle waits until it has looked once more. Another thread makes the steps, so that a
    step that is never made can be given up after an hour. In this process nobody reads these times, and the 44 bundles
    of `qpr clusters` waited for .3 s on a small log and 1.3 s on 100,000 rows.

    In workers of other engines the times are measured, but no process that was stopped lives on for it.
    No issue of Beam describes these.
    """
    in_process = options.view_as(StandardOptions).runner == IN_PROCESS
    measuring = _NoThread if in_process else functools.partial(threading.Thread, daemon=True)
    statesampler.statesampler_impl.threading = types.SimpleNamespace(Thread=measuring)
    here = types.SimpleNamespace(ThreadPoolExecutor=_SameThread, TimeoutError=concurrent.futures.TimeoutError)
    bundle_processor.concurrent = types.SimpleNamespace(futures=here) if in_process else concurrent


class _NoThread:
    """A thread that does nothing and has ended."""

    def __init__(self, target: Callable[[], None]) -> None:
        pass

    def start(self) -> None:
        """Start nothing."""

    def join(self) -> None:
        """Wait for nothing."""


class _SameThread:
    """An executor that calls a function where it is given."""

    def __init__(self, max_workers: int, thread_name_prefix: str) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, function: Callable[..., Any], *arguments: Any) -> concurrent.futures.Future[Any]:
        """Call a function, whose error is raised here, and return its result."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        future.set_result(function(*arguments))
        return future
