"""Pair precision and recall of the clusters that `qpr clusters` makes of logs whose paraphrases are known.

Run: python -m benchmarks.labels.linking helpdesk value-templates --peers

Without a log every log of `benchmarks.logs.known_logs` is scored. Pairs are counted within the judged answers only. A
number scores a simulated log of this number of events: all pairs of its questions count, also those with fallback or
wrong answers, and there are no peers.
`--peers` adds `--coherence paper` and the agreement of neighbours (`benchmarks.labels.agreement`), which takes minutes
on the largest log. With `--refine-with ENCODER` the command gets that option too, and the peers are the agreement of
neighbours by the encoder's vectors, alone and with a bound of the cosine, and, at the command's recall, the pairs with
the highest cosines, without chains.
"""

from __future__ import annotations

import dataclasses
import math
import shlex
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.agreement import agreement_clusters
from benchmarks.labels.known_scores import Score, score
from benchmarks.logs.known_logs import (
    LOGS,
    WHOLE_LOG,
    KnownLog,
    MissingDataError,
    known_log,
    known_of_simulated,
)
from benchmarks.measure import measure_qpr, simulate
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.neighbours.embeddings import Encode, cosines, quantise, unit_vectors
from schemas.artifacts.dataset import open_dataset
from schemas.text import fold, key, question_id

THRESHOLD = 0.5
"""Of agreement, the middle of the three that were compared on logs of facts, requests and Quora's clusters."""

LEAST_COSINE = 0.85
"""Of the rule of neighbours with vectors, where both have to hold."""


def of_command(log: KnownLog, *options: str) -> Score:
    """Score the clusters that `qpr clusters` keeps with these options."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        log.write(path)
        clusters, cpu_s = _clusters(path, options)
    cluster_of = {
        (fold(row["answer"]), question): row["cluster_id"] for row in clusters for question in row["question_ids"]
    }
    return score(log, cluster_of, _name(options), cpu_s)


def of_simulated(events: int, *options: str, seed: int) -> Score:
    """Score the clusters that `qpr clusters` keeps of a simulated log, whatever the answers of a pair."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(simulate(folder, events=events, seed=seed))
        clusters, cpu_s = _clusters(path, options)
        log = known_of_simulated(path)
    cluster_of = {(WHOLE_LOG, question): row["cluster_id"] for row in clusters for question in row["question_ids"]}
    return score(log, cluster_of, _name(options), cpu_s)


def _clusters(path: Path, options: tuple[str, ...]) -> tuple[list[dict[str, Any]], float | None]:
    """Return the clusters of a log by the command and its CPU seconds, or none and None where none was left."""
    dataset = path.with_name("dataset")
    try:
        cost = measure_qpr("clusters", path, "--output", dataset, "--max-reject-ratio", 1, *options)
    except SystemExit as refused:
        if "no cluster was left" not in str(refused):
            raise
        return [], None
    table = open_dataset(str(dataset)).table("clusters", columns=["cluster_id", "answer", "question_ids"])
    return table.to_pylist(), cost.cpu_s


def _name(options: tuple[str, ...]) -> str:
    return " ".join(["qpr clusters", *options])


def of_agreement(
    log: KnownLog, encode: Encode | None = None, *, threshold: float = THRESHOLD, least_cosine: float = -math.inf
) -> Score:
    """Score the untrained rule of neighbours, by an encoder's vectors if there is one, whose cosine can be bounded."""
    started = time.process_time()
    rows = _questions(log)
    answers = np.unique([answer for answer, _ in rows], return_inverse=True)[1]
    vectors = None if encode is None else unit_vectors(quantise(encode(pa.chunked_array([list(rows.values())]))))
    judged = {judged.answer for judged in log.judged}
    judged_rows = np.array([answer in judged for answer, _ in rows])
    texts = list(map(key, rows.values()))
    cluster = agreement_clusters(
        texts, answers, threshold=threshold, vectors=vectors, linked_rows=judged_rows, least_similarity=least_cosine
    )
    seconds = time.process_time() - started
    bounded = f" and cosine >= {least_cosine:g}" if math.isfinite(least_cosine) else ""
    method = f"agreement >= {threshold:g}{'' if encode is None else ' by vectors'}{bounded}"
    return score(log, dict(zip(rows, cluster.tolist(), strict=True)), method, seconds)


def of_cosine(log: KnownLog, encode: Encode, *, recall: float) -> Score:
    """Score the judged pairs with the highest cosines, as many as reach a recall; they form no clusters."""
    started = time.process_time()
    rows = _questions(log)
    judged = [judged for judged in log.judged if (judged.answer, judged.question) in rows]
    texts = [rows[judged.answer, judged.question] for judged in judged]
    vectors = quantise(encode(pa.chunked_array([texts])))
    answer, group = (
        np.unique(names, return_inverse=True)[1] for names in zip(*((j.answer, j.group) for j in judged), strict=True)
    )
    places = [np.flatnonzero(answer == number) for number in range(answer.max(initial=-1) + 1)]
    left, right = (
        np.concatenate([place[side] for place, side in zip(places, sides, strict=True)])
        for sides in zip(*(np.triu_indices(len(place), 1) for place in places), strict=True)
    )
    cosine, same = cosines(vectors, left, right), group[left] == group[right]
    order = np.argsort(-cosine, kind="stable")
    right_so_far = np.cumsum(same[order])
    # rounding must not ask for one pair more
    kept = order[: int(np.searchsorted(right_so_far, recall * max(same.sum(), 1) - 1e-9)) + 1]
    right_kept = int(same[kept].sum())
    several = max(sum(len(place) > 1 for place in places), 1)
    return Score(
        log.name,
        f"cosine >= {cosine[kept[-1]]:.3f}" if len(kept) else "cosine",
        right_kept / max(len(kept), 1),
        right_kept / max(int(same.sum()), 1),
        len(kept) / max(len(order), 1),
        len(np.unique(answer[left[kept[~same[kept]]]])) / several,
        float("nan"),
        float("nan"),
        time.process_time() - started,
    )


def _questions(log: KnownLog) -> dict[tuple[str, int], str]:
    """Return each question that has a word by its folded answer and id."""
    return {(fold(answer), question_id(question)): question for question, answer in log.rows if key(question)}


def linking(
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs to score, by name or number of events.", show_default="all")
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", help="Score other methods too.")] = False,
    options: Annotated[str, typer.Option(help="Further options of qpr clusters.")] = "",
    refine_with: Annotated[str | None, typer.Option(help="Encoder whose vectors are compared.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Score each log and print a row for each method."""
    report = Report(as_json=as_json, seed=seed)
    encode = refining_encoder(refine_with)[0] if refine_with else None
    given = [*shlex.split(options), *(("--refine-with", refine_with) if refine_with else ())]
    for name in logs or LOGS:
        if name.isdigit():
            show(report, of_simulated(int(name), *given, seed=seed))
            continue
        try:
            log = known_log(name, seed=seed)
        except MissingDataError as error:
            report.row(log=name, result=f"skipped: {error}")
            continue
        result = of_command(log, *given)
        show(report, result)
        if peers and encode is not None:
            show(report, of_cosine(log, encode, recall=result.recall))
            show(report, of_agreement(log, encode))
            show(report, of_agreement(log, encode, least_cosine=LEAST_COSINE))
        elif peers:
            show(report, of_command(log, "--coherence", "paper"))
            show(report, of_agreement(log))


def show(report: Report, result: Score) -> None:
    """Print one result."""
    report.row(**dataclasses.asdict(result))


if __name__ == "__main__":
    run(linking)
