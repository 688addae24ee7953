"""The program of the Flex Template: a job of one step that runs `qpr clusters` and waits for the job which that starts.

template parameters -> command_of -> `qpr clusters … -- --runner=DataflowRunner …` on a worker -> dataset

A Flex Template's launcher has to end before its job starts, and `qpr` publishes a dataset after its job has ended. So
the one who waits is a step on one small worker; it holds no data.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence

import apache_beam as beam
from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions, WorkerOptions

PASSED_ON = {
    GoogleCloudOptions: ("project", "region", "temp_location", "staging_location", "service_account_email"),
    WorkerOptions: ("sdk_container_image", "network", "subnetwork", "use_public_ips"),
}
"""Options of the job that waits which the job that does the work gets too."""


def command_of(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of `qpr` that a worker runs, and Beam's flags of the job that waits."""
    parser = argparse.ArgumentParser(allow_abbrev=False)  # else a flag of Beam could count as one of these
    parser.add_argument("--logs", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--more", default="")
    parser.add_argument("--work_machine_type", default="n2-highmem-4")
    parser.add_argument("--work_max_workers", type=int, default=8)
    ours, flags = parser.parse_known_args(arguments)
    options = PipelineOptions(flags)
    shared = {name: getattr(options.view_as(kind), name) for kind, names in PASSED_ON.items() for name in names}
    public = {True: ["--use_public_ips"], False: ["--no_use_public_ips"]}.get(shared.pop("use_public_ips"), [])
    passed = [f"--{name}={value}" for name, value in shared.items() if value is not None]
    work = [f"--machine_type={ours.work_machine_type}", f"--max_num_workers={ours.work_max_workers}"]
    engine = ["--runner=DataflowRunner", "--sdk_location=container", *passed, *public, *work]
    words = ["clusters", ours.logs, "--output", ours.output, *shlex.split(ours.more)]
    return [*words, "--", *engine], [*flags, "--max_num_workers=1"]


def run_command(words: Sequence[str]) -> None:
    """Run `qpr` and wait for it; if this step is tried again it starts over, which does no harm.

    Raises:
        RuntimeError: it failed; the message has the end of its own.
    """
    done = subprocess.run([sys.executable, "-m", "jobs", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"qpr {shlex.join(words)}: {done.stderr[-2000:]}")  # the cause is at the end


def main(arguments: Sequence[str]) -> None:
    """Start the job and do not wait for it."""
    words, flags = command_of(arguments)
    pipeline = beam.Pipeline(options=PipelineOptions(flags, pickle_library="cloudpickle", save_main_session=True))
    _ = pipeline | "Command" >> beam.Create([words]) | "RunAndPublish" >> beam.Map(run_command)
    pipeline.run()


if __name__ == "__main__":
    main(sys.argv[1:])
