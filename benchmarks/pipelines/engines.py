"""Cost of `qpr clusters --coherence paper` on several engines, and whether their outputs are equal.

Run: python -m benchmarks.pipelines.engines --events 1000000 --engine FnApiRunner --engine Prism

A hundred million rows: QPR_SPARK_JARS=…/pyspark/jars python -m benchmarks.pipelines.engines --events 100000000
--shards 240 --engine "Spark local" --parallelism 120, with 35 GB of disk for the temporary folder.

The figures are of the whole process tree: the command, its workers and the engine, Java included, without the start of
the engine. CPU seconds and resident memory are sampled five times a second; shared memory counts for each process.
`tests/support/engine_servers.py` starts the engines.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import psutil
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import Cost, simulate
from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from tests.support import engine_servers
from tests.support.engine_servers import ROOT, Engine, MissingEngineError

ENGINES: dict[str, Callable[..., contextlib.AbstractContextManager[Engine]]] = {
    "FnApiRunner": lambda *_, **__: contextlib.nullcontext(engine_servers.in_memory()),
    "Prism": lambda *_, **__: contextlib.nullcontext(engine_servers.prism()),
    "Spark local": engine_servers.spark,
    "Spark cluster": functools.partial(engine_servers.spark, cluster=True),
}
"""Each takes the folder of its logs, and for Spark memory and parallelism."""

Name = enum.StrEnum(
    "Name", [("prism", "Prism"), ("memory", "FnApiRunner"), ("spark", "Spark local"), ("cluster", "Spark cluster")]
)
SINGLE = [Name.memory, Name.prism, Name.spark]


class Meter:
    """Samples CPU time and memory of process trees; processes that run already count from now on."""

    def __init__(self, *roots: int) -> None:
        self._roots = roots
        self._cpu: dict[int, float] = {}
        self._sample()
        self._before, self._peak = sum(self._cpu.values()), 0
        self._start, self._done = time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def add(self, root: int) -> None:
        """Watch another process and its children."""
        self._roots = (*self._roots, root)
        self._thread.start()

    def stop(self) -> Cost:
        """Return the cost since the start."""
        wall = time.monotonic() - self._start
        self._done.set()
        self._thread.join()
        return Cost(sum(self._cpu.values()) - self._before, wall, self._peak / 2**20, "")

    def _watch(self) -> None:
        while not self._done.wait(0.2):  # a process that lives shorter can be missed
            self._peak = max(self._peak, self._sample())

    def _sample(self) -> int:
        memory = 0
        for root in self._roots:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(root)
                for running in (process, *process.children(recursive=True)):
                    with contextlib.suppress(psutil.NoSuchProcess), running.oneshot():
                        spent = running.cpu_times()
                        self._cpu[running.pid] = spent.user + spent.system
                        memory += running.memory_info().rss
        return memory


def measure_on(arguments: list[str], engine: Engine) -> Cost:
    """Run ``qpr`` on an engine.

    Raises:
        SystemExit: it failed.
    """
    meter = Meter(*([engine.pid] if engine.pid else []))
    command = [sys.executable, "-m", "jobs", *arguments, "--", *engine.flags]
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log) as process:
        meter.add(process.pid)
        while process.poll() is None:
            time.sleep(0.05)
        usage = meter.stop()
        if process.returncode:
            log.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{log.read().decode()[-3000:]}")
    return usage


def main(
    events: Annotated[int, typer.Option(help="Rows of the log.")] = 1_000_000,
    engine: Annotated[list[Name], typer.Option(help="Engine; repeatable.")] = SINGLE,
    memory: Annotated[str, typer.Option(help="Memory of Spark's driver and executor.")] = "2g",
    parallelism: Annotated[int | None, typer.Option(help="Tasks of a step on Spark; by default one a core.")] = None,
    shards: Annotated[int | None, typer.Option(help="Shards of every table; by default by the size of input.")] = None,
    logs: Annotated[str | None, typer.Option(help="Folder that keeps simulated logs for the next run.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run the same log on each engine."""
    report = Report(as_json=as_json, events=events, seed=seed)
    first: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        given = ["clusters", simulate(logs or folder, events=events, seed=seed), "--coherence", "paper"]
        given += [] if shards is None else ["--shards", str(shards)]
        for name in map(str, engine):
            output = f"{folder}/{name}"
            try:
                with ENGINES[name](Path(folder, f"{name} logs"), memory=memory, parallelism=parallelism) as server:
                    cost = measure_on([*given, "--output", output], server)
            except MissingEngineError as missing:
                report.row(engine=name, cpu_s=None, wall_s=None, peak_mb=None, result=f"skipped: {missing}")
                continue
            digest = content_digest(open_dataset(output))
            first = first or digest
            report.row(engine=name, **cost.cells(), result="equal" if digest == first else "DIFFERS")


if __name__ == "__main__":
    run(main)
