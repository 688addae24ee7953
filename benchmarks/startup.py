"""CPU time of commands on little data, where start-up dominates: the median of ten processes each.

Run: python -m benchmarks.startup --index index --log logs.jsonl
"""

from __future__ import annotations

import statistics
import tempfile
from typing import Annotated

import typer

from benchmarks.cli import AsJson, Report, run
from benchmarks.measure import measure_qpr


def startup(
    index: Annotated[str, typer.Option(help="Small index to search.")],
    log: Annotated[str, typer.Option(help="Small log to cluster, such as 200 rows.")],
    runs: Annotated[int, typer.Option(help="Processes of each command.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Print CPU and wall seconds of `--help`, a search and a clustering."""
    report = Report(as_json=as_json, runs=runs)
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "--help": ("--help",),
            "search": ("search", "--index", index, "how do I pay my bill"),
            "clusters": ("clusters", log, "--output", f"{folder}/dataset", "--overwrite"),
        }
        for name, arguments in commands.items():
            costs = [measure_qpr(*arguments) for _ in range(runs)]
            report.row(
                command=f"qpr {name}",
                cpu_s=statistics.median(cost.cpu_s for cost in costs),
                wall_s=statistics.median(cost.wall_s for cost in costs),
            )


if __name__ == "__main__":
    run(startup)
