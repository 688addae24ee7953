"""Cost of `qpr clusters` when half of all rows have one answer, beside the same rows with many answers.

Run: python -m benchmarks.pipelines.hot_answer --events 2000000 --questions many

Half of the rows are a simulated log. The other half repeats a thousand questions ("few") or has a new question in every
row ("many"), with one answer ("hot"), such as "I do not know" in a real log, or with another one for every five
questions ("spread"). The questions of both are the same.
"""

from __future__ import annotations

import enum
import tempfile
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import measure_qpr, simulate
from schemas.artifacts.dataset import open_dataset
from schemas.hashing import mix

COLUMNS = ["question", "answer", "timestamp"]
WORDS = "how why when where does did is was can the a my your river bank train ticket price name"

Kind = enum.StrEnum("Kind", ["few", "many"])


def mixed(log: pa.Table, number: np.ndarray, *, hot: bool) -> pa.Table:
    """Return the rows of the log and as many others: (N,) numbered questions with a hot or a spread answer."""
    chance, vocabulary = mix(number, 1), pa.array(WORDS.split())
    words = [vocabulary.take(pa.array((chance >> np.uint64(s)) % np.uint64(len(vocabulary)))) for s in range(0, 48, 8)]
    answer = pa.array(np.zeros_like(number) if hot else number // 5).cast(pa.string())
    added = {
        "question": pc.binary_join_element_wise(*words, pa.array(number).cast(pa.string()), " "),
        "answer": pc.binary_join_element_wise("I do not know that", answer, " "),
        "timestamp": log["timestamp"].combine_chunks(),
    }
    return pa.concat_tables([log, pa.table(added)]).combine_chunks()


def write_log(simulated: str, path: str, *, few: bool, hot: bool) -> None:
    """Write the log of one case."""
    rows = 0
    source = pq.ParquetFile(simulated)
    schema = pa.schema([source.schema_arrow.field(n).remove_metadata().with_nullable(True) for n in COLUMNS])
    with pq.ParquetWriter(path, schema) as sink:
        for batch in source.iter_batches(columns=COLUMNS):
            number = np.arange(rows, rows + len(batch))
            log = pa.table(batch).cast(schema)
            sink.write_table(mixed(log, number % 1_000 if few else number, hot=hot).cast(schema))
            rows += len(batch)


def main(
    events: Annotated[int, typer.Option(help="Rows of each log.")] = 10_000_000,
    coherence: Annotated[str, typer.Option(help="Option of qpr clusters.")] = "paper",
    questions: Annotated[list[Kind], typer.Option(help="Number of distinct questions; repeatable.")] = [*Kind],
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure each case."""
    report = Report(as_json=as_json, events=events, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        simulated, log = simulate(folder, events=events // 2, seed=seed), f"{folder}/log.parquet"
        for kind in questions:
            base = None
            for hot in (False, True):
                write_log(simulated, log, few=kind == "few", hot=hot)
                flags = ("--coherence", coherence, "--overwrite")
                cost = measure_qpr("clusters", log, "--output", f"{folder}/dataset", *flags)
                base = base or cost
                ratios = {"cpu_ratio": cost.cpu_s / base.cpu_s, "memory_ratio": cost.memory_mb / base.memory_mb}
                counters = open_dataset(f"{folder}/dataset").manifest.counters
                counts = {name: counters[name] for name in ("groups", "groups_over_max_cluster_size")}
                report.row(questions=kind, answer="hot" if hot else "spread", **cost.cells(), **ratios, **counts)


if __name__ == "__main__":
    run(main)
