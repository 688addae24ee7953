"""CPU seconds, wall seconds and peak memory of programs, start-up included, and the machine they run on.

command -> measure -> Cost
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

CALL = "import importlib, json, sys; module, name, given = sys.argv[1:]; "
CALL += "getattr(importlib.import_module(module), name)(*json.loads(given))"


class Cost(NamedTuple):
    """CPU time of a process and of the children it waited for, by the operating system, and its output.

    ``memory_mb`` is the peak resident memory of the process, or of its largest child if that is more.
    """

    cpu_s: float
    wall_s: float
    memory_mb: float
    output: str

    def cells(self) -> dict[str, float]:
        """Return the columns of a table."""
        return {"cpu_s": self.cpu_s, "wall_s": self.wall_s, "peak_mb": self.memory_mb}


def measure(command: list[str]) -> Cost:
    """Run a command to its end.

    Raises:
        SystemExit: it failed.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{errors.read().decode()[-2000:]}")
        output.seek(0)
        printed = output.read().decode()
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, printed)


def measure_qpr(*arguments: object) -> Cost:
    """Run ``qpr`` with arguments."""
    return measure([sys.executable, "-m", "jobs", *map(str, arguments)])


def measure_call(function: Callable[..., None], *arguments: object) -> Cost:
    """Call a function of a module in a process of its own; arguments have to be JSON."""
    return measure(call_command(function, *arguments))


def call_command(function: Callable[..., None], *arguments: object) -> list[str]:
    """Return the command that calls a function of a module."""
    module = function.__module__
    if module == "__main__":
        module = sys.modules[module].__spec__.name  # type: ignore[union-attr]
    return [sys.executable, "-c", CALL, module, function.__name__, json.dumps(arguments)]


def simulate(folder: str | Path, *, events: int, seed: int, options: tuple[object, ...] = ()) -> str:
    """Write a simulated log, unless the folder has it from an earlier run, and return its path."""
    path = Path(folder, f"simulated-{'-'.join(map(str, [events, seed, *options]))}.parquet")
    if not path.exists():
        measure_qpr("simulate", "--output", path, "--events", events, "--seed", seed, *options)
    return str(path)


def describe_machine() -> str:
    """Return processor, cores and Python in one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    started = time.process_time()
    call()
    return 1_000 * (time.process_time() - started)


def resident_mb() -> float:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
