"""Choice of the engine and its Beam options.

flags after ``--`` -> parse_options -> run(build, options)
"""

from __future__ import annotations

import difflib
import functools
import logging
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import apache_beam as beam
from apache_beam.options.pipeline_options import (
    DirectOptions,
    PipelineOptions,
    StandardOptions,
    _BeamArgumentParser,
)
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import SubprocessSDKEnvironment

from pipelines.engine.beam_patches import (
    IN_PROCESS,
    compress_what_is_sent,
    drop_finished_bundles,
    end_late_workers,
    inspect_once,
    read_sizes_of_tables,
    skip_diagnostics,
)
from pipelines.engine.bundle_threads import spare_threads
from pipelines.engine.engine_options import EngineOptions, keep_workers, refuse_options_of_others, wait_for_prism
from pipelines.engine.freed_memory import give_back_freed_memory, keep_freed_memory, share_freed_memory
from pipelines.engine.in_process_shuffle import hold_shuffles_once
from pipelines.engine.side_inputs import keep_no_side_inputs
from pipelines.engine.staged_files import removed_staged_files
from schemas.errors import QprError, UsageError

FREED_MEMORY = 2**28
"""Bytes of freed memory that a pipeline in this process keeps; with more, a large log needs a tenth more memory."""

_DIRECT_NAMES = ("directrunner", "direct", "switchingdirectrunner", "bundlebaseddirectrunner")


def parse_options(flags: Sequence[str], *, note: Callable[[str], None] = lambda _: None) -> PipelineOptions:
    """Return Beam's options from command-line flags; without a runner, the in-process `FnApiRunner`.

    Args:
        flags: words of the command line after ``--``.
        note: receives a note for the user.

    Raises:
        UsageError: an unknown flag or runner, a flag for another engine, or a mode that loses rows.
    """
    _refuse_unknown(flags)
    options = PipelineOptions(list(flags), pickle_library="cloudpickle")
    if options.view_as(DirectOptions).direct_running_mode == "multi_threading":
        raise UsageError(
            "--direct_running_mode=multi_threading loses rows in Apache Beam: a timed flush races with the writers. "
            "Use in_memory (the default) or multi_processing"
        )
    standard = options.view_as(StandardOptions)
    if standard.runner is None or standard.runner.lower() in _DIRECT_NAMES:
        if standard.runner is not None:
            note(f"--runner={standard.runner}: using {IN_PROCESS}, Beam's in-process runner; nothing is downloaded")
        standard.runner = IN_PROCESS
    _refuse_unknown_runner(standard.runner)
    if standard.runner.lower() == IN_PROCESS.lower():
        standard.runner = IN_PROCESS
    refuse_options_of_others(flags, standard.runner)
    keep_workers(options)
    wait_for_prism(options, standard.runner)
    return options


def run(build: Callable[[beam.Pipeline], None], options: PipelineOptions) -> None:
    """Build a pipeline, run it and wait for its end.

    Args:
        build: adds the steps to the pipeline.
        options: of Beam; without a runner, the in-process `FnApiRunner` is set.

    Raises:
        UsageError: the engine is not installed, or lacks an option.
        QprError: the engine does not start, or reports that the pipeline did not finish.
    """
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)  # the error itself is more precise than its log lines
    standard = options.view_as(StandardOptions)
    standard.runner = standard.runner or IN_PROCESS  # Beam's own default tries to download a runner first
    engine = standard.runner
    inspect_once()
    skip_diagnostics()
    compress_what_is_sent(options)
    read_sizes_of_tables()
    hold_shuffles_once()
    pipeline = new_pipeline(options)
    drop_finished_bundles(options)
    keep_no_side_inputs(options)
    spare_threads(options)
    if keep_freed_memory(below=FREED_MEMORY):
        share_freed_memory()
    build(pipeline)
    try:
        with removed_staged_files():
            result = pipeline.run()
            state = result.wait_until_finish() or result.state
    except Exception as error:
        if engine == IN_PROCESS or "QprError: " in str(error) or os.environ.get("QPR_TRACEBACK"):
            raise
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise QprError(f"{engine} did not run the pipeline: {cause}. Check the options after --") from error
    give_back_freed_memory()
    if state != "DONE":
        raise QprError(f"the pipeline ended as {state} and nothing was published. Read the engine's log for the cause")


def new_pipeline(options: PipelineOptions) -> beam.Pipeline:
    """Return a pipeline without steps; nothing is started yet.

    Raises:
        UsageError: the engine is not installed, or lacks an option.
    """
    try:
        pipeline = beam.Pipeline(runner=_runner(options), options=options)
    except (ValueError, ImportError) as error:
        engine = options.view_as(StandardOptions).runner
        raise UsageError(f"--runner={engine}: {' '.join(str(error).split())}") from error
    os.rmdir(pipeline.local_tempdir)  # Beam removes it after a run alone, and steps of other languages alone use it
    return pipeline


def _runner(options: PipelineOptions) -> FnApiRunner | None:
    """Return a runner of several processes with our workers, or None for the one that Beam builds from the options."""
    direct = options.view_as(DirectOptions)
    if options.view_as(StandardOptions).runner != IN_PROCESS or direct.direct_running_mode != "multi_processing":
        return None
    end_late_workers()
    direct.direct_running_mode = "in_memory"  # otherwise Beam replaces our environment by its own
    # -P leaves out the current folder, whose model.py would hide ours; if our packages lie there, it has to stay
    path = "" if Path.cwd() == Path(__file__).resolve().parents[2] else " -P"
    worker = "pipelines.engine.quiet_worker"
    command = f"exec {shlex.quote(sys.executable)}{path} -m {worker}"  # exec: Ctrl-C would end a shell in between
    return FnApiRunner(default_environment=SubprocessSDKEnvironment.from_command_string(command))


def _refuse_unknown_runner(name: str) -> None:
    runner_names = {runner.lower() for runner in StandardOptions.KNOWN_RUNNER_NAMES}
    if not {name.lower(), f"{name.lower()}runner"} & runner_names and "." not in name:
        near = difflib.get_close_matches(name, StandardOptions.KNOWN_RUNNER_NAMES, n=1)
        advice = f"did you mean {near[0]}?" if near else f"leave it out for {IN_PROCESS}, the runner in this process"
        raise UsageError(f"Beam has no runner {name}; {advice}")


class _OneLineParser(_BeamArgumentParser):
    """Beam's parser, but a wrong value is an error of one line instead of the usage of 200 options."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"wrong value of an option of Beam: {message}")


@functools.lru_cache(maxsize=1)
def _parser_of(kinds: tuple[type[PipelineOptions], ...]) -> _OneLineParser:
    parser = _OneLineParser(allow_abbrev=False)
    for kind in kinds:
        if kind.__module__.startswith("apache_beam.") or kind is EngineOptions:
            kind._add_argparse_args(parser)
    return parser


def _refuse_unknown(flags: Sequence[str]) -> None:
    kinds = dict.fromkeys(PipelineOptions.__subclasses__())
    parsed, unknown = _parser_of(tuple(kinds)).parse_known_args(list(flags))
    if unknown:
        name = unknown[0].split("=")[0]
        near = difflib.get_close_matches(name.lstrip("-"), vars(parsed), n=1)
        raise UsageError(f"Beam has no option {name}" + (f"; did you mean --{near[0]}?" if near else ""))
