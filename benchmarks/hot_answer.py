"""CPU seconds and memory of `qpr clusters` when half of all rows got one answer, against the same rows spread out.

Run: python -m benchmarks.hot_answer [--events 10000000] [--seed 0] [--coherence paper] [--questions many]

Half of the rows are a simulated log. The other half asks either a thousand questions again and again ("few") or a new
one in every row ("many"), and got either one answer ("hot"), as "I do not know" is in a real log, or another one for
every five questions ("spread"). The questions are the same in both, so only who shares an answer differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from schemas.artifacts.dataset import open_dataset
from schemas.hashing import mix

COLUMNS = ["question", "answer", "timestamp"]
QPR = [sys.executable, "-m", "jobs"]
WORDS = "how why when where does did is was can the a my your river bank train ticket price name"


def mixed(log: pa.Table, number: np.ndarray, *, hot: bool) -> pa.Table:
    """Return a table of twice the rows: those of the log, and (N,) numbered questions with a hot or a spread answer."""
    chance = mix(number, 1)
    known = pa.array(WORDS.split())
    words = [known.take(pa.array((chance >> np.uint64(shift)) % np.uint64(len(known)))) for shift in range(0, 48, 8)]
    numbers = pa.array(number).cast(pa.string())
    answer = pa.array(np.zeros_like(number) if hot else number // 5).cast(pa.string())
    added = {
        "question": pc.binary_join_element_wise(*words, numbers, " "),
        "answer": pc.binary_join_element_wise("I do not know that", answer, " "),
        "timestamp": log["timestamp"].combine_chunks(),
    }
    return pa.concat_tables([log, pa.table(added)]).combine_chunks()


def write_log(simulated: str, path: str, *, few: bool, hot: bool) -> None:
    """Write the log of one case."""
    rows = 0
    source = pq.ParquetFile(simulated)
    with pq.ParquetWriter(
        path, pa.schema([source.schema_arrow.field(n).remove_metadata().with_nullable(True) for n in COLUMNS])
    ) as sink:
        for batch in source.iter_batches(columns=COLUMNS):
            number = np.arange(rows, rows + len(batch))
            log = pa.table(batch).cast(sink.schema)
            sink.write_table(mixed(log, number % 1_000 if few else number, hot=hot).cast(sink.schema))
            rows += len(batch)


def main() -> None:
    """Measure the four cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--coherence", default="paper")
    parser.add_argument("--questions", choices=("few", "many"), action="append", help="both by default")
    options = parser.parse_args()
    print(describe_machine(), f"{options.events:,} events, seed {options.seed}", sep="; ")
    print(f"{'questions':9} {'answer':7} {'CPU s':>7} {'ratio':>6} {'peak MB':>8} {'ratio':>6}  groups")
    with tempfile.TemporaryDirectory() as folder:
        simulated, log = f"{folder}/simulated.parquet", f"{folder}/log.parquet"
        half = ["--events", str(options.events // 2), "--seed", str(options.seed)]
        measure([*QPR, "simulate", "--output", simulated, *half])
        for questions in options.questions or ("few", "many"):
            few, base = questions == "few", None
            for hot in (False, True):
                write_log(simulated, log, few=few, hot=hot)
                flags = ["--coherence", options.coherence, "--overwrite"]
                cost = measure([*QPR, "clusters", log, "--output", f"{folder}/dataset", *flags])
                base = base or cost
                counters = open_dataset(f"{folder}/dataset").manifest.counters
                spent = f"{cost.cpu_s:7.1f} {cost.cpu_s / base.cpu_s:6.2f}"
                held = f"{cost.memory_mb:8.0f} {cost.memory_mb / base.memory_mb:6.2f}"
                case = f"{questions:9} {'hot' if hot else 'spread':7}"
                over = f"{counters['groups_over_max_cluster_size']:,} over --max-cluster-size"
                print(f"{case} {spent} {held}  {counters['groups']:,}, {over}", flush=True)


if __name__ == "__main__":
    main()
