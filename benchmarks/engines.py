"""Time, CPU seconds and memory of `qpr clusters --coherence paper` on several engines, and whether they agree.

Run: python -m benchmarks.engines [--events 1000000] [--engine Prism] [--memory 2g] [--shards N] [--logs FOLDER]
A hundred million rows: QPR_SPARK_JARS=…/pyspark/jars python -m benchmarks.engines --events 100000000 --shards 240
    --engine "Spark local" --parallelism 120; 35 GB of disk for the temporary folder

The figures are of the whole process tree: the command, its workers and the engine, Java and all, but not the engine's
start. CPU seconds and resident memory are sampled five times a second; memory that processes share counts for each.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.machine import describe_machine
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


class Usage(NamedTuple):
    """What a process tree used."""

    wall_s: float
    cpu_s: float
    peak_gb: float


class Meter:
    """Samples process trees until the block ends; processes that were there before count from now on."""

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

    def stop(self) -> Usage:
        """Return what was used since the start."""
        wall = time.monotonic() - self._start
        self._done.set()
        self._thread.join()
        return Usage(wall, sum(self._cpu.values()) - self._before, self._peak / 2**30)

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            self._peak = max(self._peak, self._sample())

    def _sample(self) -> int:
        memory = 0
        for root in self._roots:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(root)
                for one in (process, *process.children(recursive=True)):
                    with contextlib.suppress(psutil.NoSuchProcess), one.oneshot():
                        spent = one.cpu_times()
                        self._cpu[one.pid] = spent.user + spent.system
                        memory += one.memory_info().rss
        return memory


def measure(arguments: list[str], engine: Engine) -> Usage:
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


def simulate(folder: str, events: int, seed: int) -> str:
    """Write logs, unless the folder has those of an earlier run, and return their path."""
    logs = f"{folder}/simulated-{events}-{seed}.parquet"
    if not Path(logs).exists():
        made = ["simulate", "--output", logs, "--events", str(events), "--seed", str(seed)]
        subprocess.run([sys.executable, "-m", "jobs", *made], cwd=ROOT, check=True, capture_output=True)
    return logs


def main() -> None:
    """Simulate a log, run it on each engine and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=ENGINES, action="append", help="all but the cluster by default")
    parser.add_argument("--memory", default="2g", help="of Spark's driver and executor")
    parser.add_argument("--parallelism", type=int, help="tasks of a step on Spark; by default one for each core")
    parser.add_argument("--shards", type=int, help="by input size by default")
    parser.add_argument("--logs", help="folder that keeps simulated logs for the next run")
    options = parser.parse_args()
    print(f"{describe_machine()}; {options.events:,} events, seed {options.seed}")
    print(f"{'engine':14} {'wall s':>7} {'CPU s':>7} {'peak GB':>8}  result", flush=True)
    first: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        logs = simulate(options.logs or folder, options.events, options.seed)
        for name in options.engine or [name for name in ENGINES if name != "Spark cluster"]:
            output, server_logs = f"{folder}/{name}", Path(folder) / f"{name} logs"
            given = ["clusters", logs, "--output", output, "--coherence", "paper"]
            given += [] if options.shards is None else ["--shards", str(options.shards)]
            try:
                with ENGINES[name](server_logs, memory=options.memory, parallelism=options.parallelism) as engine:
                    usage = measure(given, engine)
            except MissingEngineError as missing:
                print(f"{name:14} skipped: {missing}")
                continue
            digest = content_digest(open_dataset(output))
            first = first or digest
            verdict = "equal" if digest == first else "DIFFERS"
            print(f"{name:14} {usage.wall_s:7.1f} {usage.cpu_s:7.1f} {usage.peak_gb:8.2f}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
