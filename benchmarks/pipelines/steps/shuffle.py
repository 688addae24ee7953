"""Cost of a shuffle by the number of shards: CPU time of dividing and reading, and bytes that travel.

Run: python -m benchmarks.pipelines.steps.shuffle --events 1000000

The rows are those that `qpr clusters` reads from a simulated log, in batches of 65,536, all of one bundle.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import simulate
from pipelines.engine.shuffle import SplitByShard, concatenate
from pipelines.graphs.from_logs import read_asked
from pipelines.privacy.settings import Privacy
from pipelines.questions.settings import Validation
from pipelines.reading.sources import Source

SHARDS = [12, 256, 4096]
ROUNDS = 3
"""The fastest of these counts, on a machine with other work."""


def main(
    events: Annotated[int, typer.Option(help="Rows of the log.")] = 1_000_000,
    shards: Annotated[list[int], typer.Option(help="Number of shards; repeatable.")] = SHARDS,
    logs: Annotated[str | None, typer.Option(help="Folder that keeps simulated logs for the next run.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Divide the same tables among each number of shards, and read the parts of every shard."""
    report = Report(as_json=as_json, events=events, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        tables = _tables(simulate(logs or folder, events=events, seed=seed))
    rows = _in_order(tables)
    for number in shards:
        times = []
        for _ in range(ROUNDS):
            started = time.process_time()
            parts = list(_divide(tables, number))
            divided = time.process_time()
            of_shards = _read(parts)
            times.append((divided - started, time.process_time() - divided))
        to_divide, to_read = (1_000 * min(of_step) / len(tables) for of_step in zip(*times, strict=True))
        report.row(
            shards=number,
            parts_a_batch=len(parts) / len(tables),
            cpu_ms_a_batch_to_divide=to_divide,
            cpu_ms_a_batch_to_read=to_read,
            bytes_a_row=sum(len(part) for _, part in parts) / len(rows),
            result="equal" if _in_order(of_shards).equals(rows) else "DIFFERS",
        )


def _tables(log: str) -> list[pa.Table]:
    source = Source(log, Path(log).stat().st_size, "parquet")
    read = read_asked(source, {}, Validation(), Privacy(scrub="off"))
    return [part for part in read if isinstance(part, pa.Table)]


def _divide(tables: Sequence[pa.Table], shards: int) -> Iterator[tuple[int, bytes]]:
    step = SplitByShard("question_id", shards)
    step.start_bundle()
    yield from itertools.chain.from_iterable(map(step.process, tables))
    yield from (windowed.value for windowed in step.finish_bundle())


def _read(parts: Sequence[tuple[int, bytes]]) -> list[pa.Table]:
    of_shard: dict[int, list[bytes]] = {}
    for shard, part in parts:
        of_shard.setdefault(shard, []).append(part)
    return list(map(concatenate, of_shard.values()))


def _in_order(tables: Sequence[pa.Table]) -> pa.Table:
    together = pa.concat_tables(tables).combine_chunks()
    return together.sort_by([(name, "ascending") for name in together.column_names])


if __name__ == "__main__":
    run(main)
