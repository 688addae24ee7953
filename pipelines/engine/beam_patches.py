"""Corrections of Apache Beam at run time.

options of a run -> end_late_workers, drop_finished_bundles, inspect_once, skip_diagnostics, compress_what_is_sent,
read_sizes_of_tables ->
Beam's modules in this process, changed

All are for Beam 2.72, the oldest version that setup.py allows, to 2.77, the newest tested.
`tests/pipelines/engine/test_beam_patches.py` shows each fault in the installed version and fails once Beam is mended:
then remove the patch.
"""

from __future__ import annotations

import bz2
import functools
import inspect
import queue
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any, Final

import objsize.traverse
import pyarrow as pa
from apache_beam.coders import coder_impl, coders
from apache_beam.internal import cloudpickle_pickler, pickler
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, PortableOptions, StandardOptions
from apache_beam.portability import python_urns
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    BeamFnControlServicer,
    SubprocessSdkWorkerHandler,
    WorkerHandler,
)
from apache_beam.runners.worker import sdk_worker
from apache_beam.transforms import core, ptransform, userstate
from apache_beam.typehints import decorators

IN_PROCESS: Final = "FnApiRunner"
"""Beam's name of the runner in this process."""

BUNDLE_KEPT_S: Final = 2
"""Seconds that the steps of a finished bundle are kept; building them again takes some hundredths of a second."""


class LateWorkerHandler(SubprocessSdkWorkerHandler):
    """Beam's handler of a worker process, which also ends a worker that connects after the run has ended.

    A run that fails within its first seconds closes the connection of a worker that is still importing its libraries.
    Beam then sends the worker no end marker and waits for its process, and the worker waits for instructions: for ever.
    No issue of Beam describes this.
    """

    def close(self) -> None:
        """Replace the instructions of a worker that has not connected by the end marker, then close as Beam does."""
        if self.control_conn._state == BeamFnControlServicer.UNSTARTED_STATE:
            instructions = self.control_conn._push_queue
            try:
                while True:
                    instructions.get_nowait()
            except queue.Empty:
                self.control_conn.push(BeamFnControlServicer._DONE_MARKER)
        super().close()


def end_late_workers() -> None:
    """Make Beam start worker processes through `LateWorkerHandler`."""
    WorkerHandler.register_environment(python_urns.SUBPROCESS_SDK, bytes)(LateWorkerHandler)


def drop_finished_bundles(options: PipelineOptions) -> None:
    """Keep the steps of a finished bundle for `BUNDLE_KEPT_S` where workers are threads of this process.

    Beam keeps them for one to two minutes in case the engine sends the same stage again, and with each step its last
    table and its side inputs (https://github.com/apache/beam/pull/10655); it has no option for the time. Spark never
    sends it again: each of its hundreds of tasks has a stage of its own, so memory only grows. The in-process runner
    executes each stage once.
    """
    in_process = options.view_as(StandardOptions).runner == IN_PROCESS
    if in_process or options.view_as(PortableOptions).environment_type == "LOOPBACK":
        sdk_worker.DEFAULT_BUNDLE_PROCESSOR_CACHE_SHUTDOWN_THRESHOLD_S = BUNDLE_KEPT_S


def inspect_once() -> None:
    """Make Beam parse the flags once for a view of the options, and inspect a function, method or module once.

    Beam parses all flags again whenever a view of the same class is asked for, lists all options of a view to read one,
    and inspects the functions and the methods that every step inherits again for every step, several times each. To
    find the size of a side input it lists all modules of the process. Together this is most of the CPU time of
    `qpr clusters` on a small log. No issue of Beam describes this.
    """
    PipelineOptions.view_as = _view_as
    PipelineOptions._visible_option_list = _names_of_options
    core.get_function_args_defaults = _arguments_of
    userstate.get_dofn_specs = _states_of
    decorators.get_signature = _signature_of
    objsize.traverse._iter_modules_globals = lambda: _globals_of_modules(len(sys.modules))


def skip_diagnostics() -> None:
    """Make Beam skip what only its messages to authors of steps need.

    For each step Beam tokenizes the source code to find a ``yield`` beside a ``return``, of which it warns, keeps the
    call stack of each type hint for the message of a wrong one, and pickles and reads function and arguments to show
    that they can be pickled, which sending them shows too.
    """
    core._check_fn_use_yield_and_return = lambda _: False
    ptransform.pickler = types.SimpleNamespace(**{**vars(pickler), "roundtrip": lambda step: step})
    decorators.IOTypeHints._make_origin = classmethod(_origin_without_stack)


def compress_what_is_sent(options: PipelineOptions) -> None:
    """Make Beam compress the bytes of a step only where they leave this process, and less thoroughly.

    Beam compresses them by bz2 with blocks of 900 kB, which takes longer for a few kB than the compression itself;
    blocks of 100 kB are read as well. In this process each step is pickled twice and sent nowhere: bz2 was an eighth of
    the CPU time of `qpr clusters` on a small log.
    """
    in_process = options.view_as(StandardOptions).runner == IN_PROCESS
    stays = in_process and options.view_as(DirectOptions).direct_running_mode == "in_memory"
    compress = _as_it_is if stays else _compress_in_small_blocks
    cloudpickle_pickler.bz2 = types.SimpleNamespace(compress=compress, decompress=_decompressed)


def read_sizes_of_tables() -> None:
    """Make Beam read the size of a table from the table.

    For its counters Beam pickles the first ten elements of each output to measure their sizes, and here an element is a
    table. That was 3.8 GB on a log of a million rows, where less than 1 GB is pickled to be sent. No issue of Beam
    describes this.
    """
    coders.FastPrimitivesCoder._create_impl = lambda coder: _CoderOfTables(coder._fallback_coder.get_impl())


class _CoderOfTables(coder_impl.FastPrimitivesCoderImpl):
    """Beam's coder of any elements, but the size of a table or of a tuple of tables is that of their columns."""

    def get_estimated_size_and_observables(self, value: Any, nested: bool = False) -> tuple[int, list[Any]]:
        """Return the size of an element, and parts of it that are counted when they are read: none of a table."""
        parts = value if isinstance(value, tuple) else (value,)
        if any(isinstance(part, pa.Table) for part in parts):
            return sum(part.nbytes for part in parts if isinstance(part, pa.Table)), []
        measured: tuple[int, list[Any]] = super().get_estimated_size_and_observables(value, nested)
        return measured


_parsed_view = PipelineOptions.view_as
_inspected = core.get_function_args_defaults
_searched = userstate.get_dofn_specs
_listed_options = PipelineOptions._visible_option_list
_examined = decorators.get_signature
_listed_modules = objsize.traverse._iter_modules_globals
_origin = decorators.IOTypeHints._make_origin.__func__
_views: weakref.WeakKeyDictionary[PipelineOptions, dict[type[PipelineOptions], PipelineOptions]] = (
    weakref.WeakKeyDictionary()
)
_names: weakref.WeakKeyDictionary[PipelineOptions, list[str]] = weakref.WeakKeyDictionary()
_states: weakref.WeakKeyDictionary[type[core.DoFn], tuple[set[userstate.StateSpec], set[userstate.TimerSpec]]] = (
    weakref.WeakKeyDictionary()
)

_signatures: weakref.WeakKeyDictionary[types.FunctionType, dict[bool, inspect.Signature]] = weakref.WeakKeyDictionary()


def _view_as(options: PipelineOptions, cls: type[PipelineOptions]) -> PipelineOptions:
    """Return the view of a class that `PipelineOptions.view_as` gave before; all views share their values."""
    views = _views.setdefault(options, {})
    if cls not in views or views[cls]._all_options is not options._all_options:
        views[cls] = _parsed_view(options, cls)
    return views[cls]


def _arguments_of(function: Callable[..., Any]) -> tuple[list[str], list[Any]]:
    """Return the names and defaults of arguments; of a method they depend on its class alone."""
    if not isinstance(function, types.MethodType):
        names, defaults = _inspected(function)
        return names, defaults
    named, given = _arguments_of_method(function.__func__)
    return [*named], [*given]


@functools.lru_cache(maxsize=1_024)
def _arguments_of_method(function: Callable[..., Any]) -> tuple[list[str], list[Any]]:
    names, defaults = _inspected(types.MethodType(function, object()))
    return names, defaults


def _states_of(step: core.DoFn) -> tuple[set[userstate.StateSpec], set[userstate.TimerSpec]]:
    """Return the states and timers of a step, which depend on its class, unless it holds a method itself."""
    kind = type(step)
    if any(isinstance(value, types.MethodType) for value in vars(step).values()):
        states, timers = _searched(step)
    else:
        if kind not in _states:
            _states[kind] = _searched(step)
        states, timers = _states[kind]
    return {*states}, {*timers}


def _names_of_options(options: PipelineOptions) -> list[str]:
    """Return the names of the options of a view, which are attributes of a namespace without others, listed once."""
    if options not in _names:
        _names[options] = sorted(name for name in vars(options._visible_options) if not name.startswith("_"))
    return _names[options]


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature that Beam finds; that of a function or method is kept as long as the function."""
    bound = isinstance(function, types.MethodType)
    inner = function.__func__ if isinstance(function, types.MethodType) else function
    if not isinstance(inner, types.FunctionType):
        examined: inspect.Signature = _examined(function)
        return examined
    kept = _signatures.setdefault(inner, {})
    if bound not in kept:
        kept[bound] = _examined(function)
    return kept[bound]


@functools.lru_cache(maxsize=1)
def _globals_of_modules(_: int) -> list[dict[str, Any]]:
    """Return the global names of all modules, listed again when the number of modules changes."""
    return [*_listed_modules()]


def _origin_without_stack(cls: type[decorators.IOTypeHints], *given: Any, **named: Any) -> list[str]:
    lines: list[str] = _origin(cls, *given, **{**named, "tb": False})
    return lines


def _compress_in_small_blocks(content: bytes, compresslevel: int = 9) -> bytes:
    return bz2.compress(content, compresslevel=min(compresslevel, 1))


def _as_it_is(content: bytes, **_: int) -> bytes:
    return content


def _decompressed(content: bytes) -> bytes:
    return bz2.decompress(content) if content.startswith(b"BZh") else content  # a pickle begins with 0x80
