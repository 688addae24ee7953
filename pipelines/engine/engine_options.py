"""Options of engines beyond Beam's own, and checks that an option fits the engine of a run.

flags after ``--``, runner -> refuse_options_of_others -> error; EngineOptions -> known to Beam's parser;
options -> keep_workers, wait_for_prism -> options

Beam's Python SDK learns most options of Flink and Spark from their job server (`DescribePipelineOptions`), once it has
been started, and takes booleans only as flags without a value. Declared here they are checked before anything runs, and
travel with the job like Beam's own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
    PrismRunnerOptions,
    SparkRunnerOptions,
)

from schemas.errors import UsageError


def _boolean(text: str) -> bool:
    values = {"true": True, "false": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"true or false, not {text!r}")
    return values[text.lower()]


_Kind = Callable[[str], object] | tuple[str, ...]
"""The type of an option's value, or its choices."""

_OPTIONS: Final[Mapping[str, Mapping[_Kind, str]]] = {
    "Flink": {  # batch jobs and checkpoints, times in ms; FlinkPipelineOptions of Beam's Java SDK
        int: "auto_watermark_interval checkpoint_timeout_millis checkpointing_interval execution_retry_delay"
        " latency_tracking_interval max_bundle_size max_bundle_time_mills min_pause_between_checkpoints"
        " num_concurrent_checkpoints number_of_execution_retries shutdown_sources_after_idle_ms",
        _boolean: "allow_non_restored_state disable_metrics externalized_checkpoints_enabled"
        " fail_on_checkpointing_errors faster_copy finish_bundle_before_checkpointing object_reuse operator_chaining"
        " re_iterable_group_by_key_result retain_externalized_checkpoints_on_cancellation",
        ("EXACTLY_ONCE", "AT_LEAST_ONCE"): "checkpointing_mode",
        ("PIPELINED", "PIPELINED_FORCED", "BATCH", "BATCH_FORCED"): "execution_mode_for_batch",
        ("rocksdb", "filesystem"): "state_backend",
        str: "flink_conf_dir savepoint_path state_backend_factory state_backend_storage_path",
    },
    "Spark": {  # batch jobs; SparkPipelineOptions of Beam's Java SDK
        int: "bundle_size",
        _boolean: "cache_disabled prefer_group_by_key_to_handle_huge_values",
        str: "checkpoint_dir storage_level",
    },
    "Prism": {},
}
_BEAM_OPTIONS: Final = {"Flink": FlinkRunnerOptions, "Spark": SparkRunnerOptions, "Prism": PrismRunnerOptions}


class EngineOptions(PipelineOptions):
    """The options of all engines that Beam's Python SDK lacks; one that nobody gives is left to the engine."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse.ArgumentParser) -> None:
        for engine in _OPTIONS:
            _add(parser, engine)


def _add(parser: argparse.ArgumentParser, engine: str) -> None:
    for kind, names in _OPTIONS[engine].items():
        value: dict[str, Any] = {"choices": kind} if isinstance(kind, tuple) else {"type": kind}
        value |= {"nargs": "?", "const": True} if kind is _boolean else {}
        for name in names.split():
            parser.add_argument(f"--{name}", **value)


KEPT_MS: Final = 60_000
"""Time that Python workers outlive a stage. By default Spark and Flink start new ones for each stage of a job."""

LONGEST_S: Final = 30 * 24 * 3600
"""Maximum duration of a job on Prism."""

_BEAM_TIMEOUT_S: Final = 300
"""Beam's default of ``--job_server_timeout``."""


def refuse_options_of_others(flags: Sequence[str], runner: str) -> None:
    """Make sure that no flag is for an engine that will not run the pipeline, where it would be without effect.

    Args:
        flags: the words after ``--``, all of them known options.
        runner: the runner's name; one that is given by its path or by a job endpoint may be any engine.

    Raises:
        UsageError: a flag is for another engine.
    """
    name = runner.lower().removesuffix("runner")
    if name == "portable" or "." in name:
        return
    if name == "fnapi" and (of_server := _given(flags, PortableOptions)):
        raise UsageError(
            f"{of_server} is an option of a job server, but --runner={runner}. Add --runner=PortableRunner"
        )
    for engine, kind in _BEAM_OPTIONS.items():
        foreign = _given(flags, kind, engine)
        if foreign and name != engine.lower():
            raise UsageError(f"{foreign} is an option of {engine}, but --runner={runner}. Add --runner={engine}Runner")


def _given(flags: Sequence[str], kind: type[PipelineOptions], engine: str | None = None) -> str | None:
    """Return the first flag that is an option of Beam's ``kind``, or of an engine; None if there is none."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    kind._add_argparse_args(parser)
    if engine:
        _add(parser, engine)
    names = (flag.split("=")[0] for flag in flags)
    return next((name for name in names if name in parser._option_string_actions), None)


def keep_workers(options: PipelineOptions) -> None:
    """Keep the workers of an engine from stage to stage, for `KEPT_MS` unless the user gives a time."""
    portable = options.view_as(PortableOptions)
    if portable.environment_cache_millis == 0:  # the default; a time that a user gives is text
        portable.environment_cache_millis = KEPT_MS


def wait_for_prism(options: PipelineOptions, runner: str) -> None:
    """Extend the time limit of a job on Prism to `LONGEST_S` unless the user gives one.

    Beam gives the stream of a job's states the timeout of one request, so a job of over 300 seconds fails on Prism.
    Other engines' job servers ignore it there; for them it ends the wait for a server that is not running.
    """
    portable = options.view_as(PortableOptions)
    if runner.lower().removesuffix("runner") == "prism" and portable.job_server_timeout == _BEAM_TIMEOUT_S:
        portable.job_server_timeout = LONGEST_S
