"""Recall and cost of the join that finds the nearest questions, beside the comparison of all questions.

Run: python -m benchmarks.pipelines.neighbours --log facts --log helpdesk

Logs are those of `benchmarks.logs.known_logs`, and simulated ones by their number of events. Half of the questions of
"hot" logs have one answer, and those of "spread" logs have one for every five. Recall is the share of the exact nearest
questions that the join finds; a log of more than 100,000 questions has none. Each log is measured in a process of its
own, on the steps of the transform without Beam.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.logs.known_logs import LOGS, known_log
from benchmarks.logs.neighbour_join import QUESTIONS_A_SHARD, by_shard, joined
from benchmarks.measure import measure_call, simulate
from benchmarks.pipelines.hot_answer import write_log
from pipelines.intermediate import ASKED, NEIGHBOURS
from pipelines.neighbours.nearest import exact_nearest
from pipelines.questions.aggregation import name_questions
from pipelines.questions.ambiguity import settle_answers
from pipelines.questions.settings import Ambiguity
from pipelines.questions.token_frequencies import TokenWeights, frequent
from schemas.hashing import mix
from schemas.tables import with_nulls
from schemas.text_arrays import fold_all, hash64_all, key_all

MAX_EXACT = 100_000
"""Greatest number of questions of which all are compared."""


def main(
    log: Annotated[list[str], typer.Option(help="facts, helpdesk, ... or a number of events; repeatable.")] = [
        "facts",
        "helpdesk",
        "200000",
        "1000000",
    ],
    spread: Annotated[int, typer.Option(help="Rows of the hot and the spread log; 0: none.")] = 0,
    k: Annotated[int, typer.Option(help="Neighbours of each kind.")] = 10,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure each log."""
    report = Report(as_json=as_json, k=k, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        for name in log:
            path = name if name in LOGS else simulate(folder, events=int(name), seed=seed)
            _report(report, name, path, k, seed)
        for name in ("spread", "hot") if spread else ():
            path = f"{folder}/{name}.parquet"
            write_log(simulate(folder, events=spread // 2, seed=seed), path, few=False, hot=name == "hot")
            _report(report, name, path, k, seed)


def _report(report: Report, name: str, log: str, k: int, seed: int) -> None:
    cost = measure_call(measure_log, log, k, seed)
    report.row(log=name, **json.loads(cost.output), peak_mb=cost.memory_mb)


def measure_log(log: str, k: int, seed: int) -> None:
    """Print figures of a log as JSON."""
    members, weights = _members(log, seed)
    shards = max(1, round(len(members) / QUESTIONS_A_SHARD))
    tables = by_shard([members], "answer_id", shards)
    started = time.process_time()
    neighbours, shuffled = joined(tables, weights, k, shards)
    figures: dict[str, Any] = {"questions": len(members), "join_cpu_s": time.process_time() - started}
    figures["shuffled_mb"] = shuffled / 1e6
    started = time.process_time()
    if len(members) <= MAX_EXACT:
        exact = exact_nearest(members, weights, k=k)
        figures["exact_cpu_s"] = time.process_time() - started
        figures |= _recall(neighbours, exact)
    else:
        figures |= dict.fromkeys(["exact_cpu_s", *_recall(NEIGHBOURS.empty_table(), NEIGHBOURS.empty_table())])
    print(json.dumps(figures))


def _members(log: str, seed: int) -> tuple[pa.Table, TokenWeights]:
    if log in LOGS:
        questions, answers = map(pa.array, zip(*known_log(log, seed=seed).rows, strict=True))
    else:
        rows = pq.read_table(Path(log), columns=["question", "answer"])
        questions, answers = (rows[name].combine_chunks() for name in rows.column_names)
    keys = key_all(questions)
    columns = {"question_id": hash64_all(keys), "key": keys, "text": questions, "answer": answers}
    columns |= {"answer_id": hash64_all(fold_all(answers)), "events": pa.array(np.ones(len(keys), np.int64))}
    named = name_questions(with_nulls(ASKED, columns))
    return settle_answers(named.members, Ambiguity()).members, frequent(named.token_counts)


def _recall(neighbours: pa.Table, exact: pa.Table) -> dict[str, float]:
    """Return the share of exact neighbours found: with the same answer, with another one, and similar ones of these."""
    hit = np.isin(_code(exact), _code(neighbours))
    same = exact["answer_id"].to_numpy() == exact["neighbour_answer_id"].to_numpy()
    near = exact["similarity"].to_numpy() >= 0.4
    kinds = {"same_answer": same, "other_answer": ~same, "other_and_similarity_from_0.4": ~same & near}
    return {f"recall_{kind}": float(hit[mask].mean()) if mask.any() else 0.0 for kind, mask in kinds.items()}


def _code(neighbours: pa.Table) -> np.ndarray:
    """Return a hash of each row's questions and answers."""
    code = np.zeros(len(neighbours), np.int64)
    for name in NEIGHBOURS.names[:-1]:
        code = mix(code ^ neighbours[name].to_numpy(), 0).view(np.int64)
    return code


if __name__ == "__main__":
    run(main)
