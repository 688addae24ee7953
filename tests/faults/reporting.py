"""Command line of the scripts that kill commands, or let them race, and count what is left.

measure -> report -> a line of JSON for each row, exit code; name of a script -> output_of -> its rows
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchmarks.cli import run
from tests.support.engine_servers import ROOT


def report(measure: Callable[..., Iterable[Mapping[str, Any]]], *failures: str) -> None:
    """Print a line of JSON for each row; exit with 1 if a failure was counted.

    Args:
        measure: yields the rows; its parameters are the options of the script.
        failures: columns that count failures.
    """

    @functools.wraps(measure)
    def command(**options: Any) -> None:
        count = 0
        for row in measure(**options):
            print(json.dumps(row), flush=True)
            count += sum(row[name] for name in failures)
        sys.exit(bool(count))

    run(command)


def output_of(script: str, *options: object, timeout_s: float | None = None) -> list[dict[str, Any]]:
    """Return the rows of a script of this folder, which must end with exit code 0."""
    command = [sys.executable, "-m", f"tests.faults.{script}", *map(str, options)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=timeout_s)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
