"""CPU seconds, wall seconds and peak memory of a program, start-up included.

command -> measure -> Cost
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from typing import NamedTuple


class Cost(NamedTuple):
    """What the operating system charged a process and the children it waited for, and what the process printed.

    ``memory_mb`` is the peak resident memory of the process, or of its largest child if that is more.
    """

    cpu_s: float
    wall_s: float
    memory_mb: float
    output: str


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
