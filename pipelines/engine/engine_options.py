"""Options of engines: those that only a job server knows, and which engine an option is for.

flags after ``--``, runner -> refuse_options_of_others -> error; JOB_SERVER_OPTIONS -> known to Beam's parser;
options -> keep_workers, wait_for_prism -> options

Beam's Python SDK learns most options of Flink and Spark from the job server, after it has been started. Declared here
they are checked before anything runs, and travel with the job like Beam's own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
    PrismRunnerOptions,
    SparkRunnerOptions,
)

from schemas.errors import UsageError


def _truth(text: str) -> bool:
    values = {"true": True, "false": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"true or false, not {text!r}")
    return values[text.lower()]


class FlinkJobOptions(PipelineOptions):
    """What the Flink job server takes besides Beam's ``FlinkRunnerOptions``; batch jobs and checkpoints, times in ms.

    Source: Beam's FlinkPipelineOptions (Java).
    """

    @classmethod
    def _add_argparse_args(cls, parser: argparse.ArgumentParser) -> None:
        for name in (
            "auto_watermark_interval",
            "checkpoint_timeout_millis",
            "checkpointing_interval",
            "execution_retry_delay",
            "latency_tracking_interval",
            "max_bundle_size",
            "max_bundle_time_mills",
            "min_pause_between_checkpoints",
            "num_concurrent_checkpoints",
            "number_of_execution_retries",
            "shutdown_sources_after_idle_ms",
        ):
            parser.add_argument(f"--{name}", type=int)
        for name in (
            "allow_non_restored_state",
            "disable_metrics",
            "externalized_checkpoints_enabled",
            "fail_on_checkpointing_errors",
            "faster_copy",
            "finish_bundle_before_checkpointing",
            "object_reuse",
            "operator_chaining",
            "re_iterable_group_by_key_result",
            "retain_externalized_checkpoints_on_cancellation",
        ):
            parser.add_argument(f"--{name}", type=_truth, nargs="?", const=True)
        parser.add_argument("--checkpointing_mode", choices=("EXACTLY_ONCE", "AT_LEAST_ONCE"))
        modes = ("PIPELINED", "PIPELINED_FORCED", "BATCH", "BATCH_FORCED")
        parser.add_argument("--execution_mode_for_batch", choices=modes)
        parser.add_argument("--state_backend", choices=("rocksdb", "filesystem"))
        for name in ("flink_conf_dir", "savepoint_path", "state_backend_factory", "state_backend_storage_path"):
            parser.add_argument(f"--{name}")


class SparkJobOptions(PipelineOptions):
    """What the Spark job server takes of a batch job besides Beam's ``SparkRunnerOptions``.

    Source: Beam's SparkPipelineOptions (Java), as the job server describes them.
    """

    @classmethod
    def _add_argparse_args(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bundle_size", type=int)
        for name in ("cache_disabled", "prefer_group_by_key_to_handle_huge_values"):
            parser.add_argument(f"--{name}", type=_truth, nargs="?", const=True)
        for name in ("checkpoint_dir", "storage_level"):
            parser.add_argument(f"--{name}")


JOB_SERVER_OPTIONS: Final = (FlinkJobOptions, SparkJobOptions)
"""Known here as if they were Beam's own."""

KEPT_MS: Final = 60_000
"""Python workers outlive a stage by so much. Without, Spark and Flink start new ones for every stage of a job."""

LONGEST_S: Final = 30 * 24 * 3600
"""So long a job may run on Prism."""

_BEAMS_TIMEOUT_S: Final = 300
_ENGINES: Final = {
    "Flink": (FlinkRunnerOptions, FlinkJobOptions),
    "Spark": (SparkRunnerOptions, SparkJobOptions),
    "Prism": (PrismRunnerOptions,),
}


def refuse_options_of_others(flags: Sequence[str], runner: str) -> None:
    """Make sure that no flag is meant for an engine that will not run the pipeline; it would be without effect.

    Args:
        flags: what stood after ``--``, all of them known.
        runner: the runner's name; one given by its path or by a job endpoint may be any engine.

    Raises:
        UsageError: one is.
    """
    name = runner.lower().removesuffix("runner")
    for engine, kinds in _ENGINES.items():
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        for kind in kinds:
            kind._add_argparse_args(parser)
        found = [flag.split("=")[0] for flag in flags if flag.split("=")[0] in parser._option_string_actions]
        if found and name not in (engine.lower(), "portable") and "." not in name:
            raise UsageError(f"{found[0]} is an option of {engine}, but --runner={runner}; add --runner={engine}Runner")


def keep_workers(options: PipelineOptions) -> None:
    """Let the workers of an engine live on from stage to stage, unless the user says how long."""
    portable = options.view_as(PortableOptions)
    if portable.environment_cache_millis == 0:  # what a user gives is text
        portable.environment_cache_millis = KEPT_MS


def wait_for_prism(options: PipelineOptions, runner: str) -> None:
    """Let a job on Prism take as long as it takes, unless the user says how long.

    Beam gives the stream that tells a job's state the timeout of a request, so a job of more than 300 seconds fails.
    With other engines' job servers it does not, and there the timeout ends the wait for a server that is not there.
    """
    portable = options.view_as(PortableOptions)
    if runner.lower().removesuffix("runner") == "prism" and portable.job_server_timeout == _BEAMS_TIMEOUT_S:
        portable.job_server_timeout = LONGEST_S
