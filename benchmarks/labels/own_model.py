"""Clusters of a log before and after a model that was trained on them compares its questions.

Run: python -m benchmarks.labels.own_model 60000 --dataset quora --silver d

`qpr clusters` reads the log by words alone, `qpr train` learns from these clusters, and `qpr clusters --refine-with
MODEL` reads the same log again; so the model has seen the wrong clusters too. Logs are those of
`benchmarks.logs.known_logs` by name, simulated ones by their number of events, and with `--dataset` logs of Quora's
clusters under shared answers (`benchmarks.logs.silver_logs`), of the half from which no weights were learned.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.known_scores import Score, score
from benchmarks.logs.cluster_sources import halves
from benchmarks.logs.known_logs import WHOLE_LOG, Judged, KnownLog, known_log, known_of_simulated
from benchmarks.logs.silver_logs import LOGS, merged_log
from benchmarks.measure import measure_qpr, simulate
from schemas.artifacts.dataset import open_dataset
from schemas.text import fold


def silver_log(dataset: str, name: str, *, clusters: int, seed: int) -> KnownLog:
    """Return a log of the scored half, the same as `benchmarks.labels.answer_splits` scores."""
    scored = halves(open_dataset(dataset), seed=seed)[1]
    scored = dataclasses.replace(scored, clusters=scored.clusters[:clusters])
    log = merged_log(scored, seed=seed + 2, alike=LOGS[name])
    columns = (log.members[column].to_pylist() for column in ("text", "answer_id", "question_id"))
    rows = [(text, f"answer {answer}", question) for text, answer, question in zip(*columns, strict=True)]
    judged = [
        Judged(fold(answer), question, group)
        for (_, answer, question), group in zip(rows, log.gold.tolist(), strict=True)
    ]
    return KnownLog(f"silver ({name})", [(text, answer) for text, answer, _ in rows], judged)


def rounds(log: KnownLog, path: Path, *, times: int, seed: int) -> Iterator[Score]:
    """Yield the score of the clusters by words, then of those by a model trained on the clusters before.

    Args:
        log: what is known; of a simulated log all questions are under `WHOLE_LOG`.
        path: file of its rows, in a folder for what is made.
        times: number of models.
        seed: of the models.
    """
    options: tuple[object, ...] = ()
    whole = {judged.answer for judged in log.judged} == {WHOLE_LOG}
    for number in range(times + 1):
        dataset, model = path.with_name(f"dataset-{number}"), path.with_name(f"model-{number}")
        cost = measure_qpr("clusters", path, "--output", dataset, "--max-reject-ratio", 1, *options)
        columns = ["cluster_id", "answer", "question_ids"]
        clusters = open_dataset(str(dataset)).table("clusters", columns=columns).to_pylist()
        cluster_of = {
            (WHOLE_LOG if whole else fold(row["answer"]), question): row["cluster_id"]
            for row in clusters
            for question in row["question_ids"]
        }
        yield score(log, cluster_of, f"model {number}" if number else "words", cost.cpu_s)
        if number < times:
            measure_qpr("train", "--dataset", dataset, "--output", model, "--seed", seed)
            options = ("--refine-with", model)


def own_model(
    logs: Annotated[list[str] | None, typer.Argument(help="Logs to score, by name or number of events.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Dataset of qpr quora, for --silver.")] = None,
    silver: Annotated[list[str] | None, typer.Option(help="b, c, d or topic; repeatable.")] = None,
    clusters: Annotated[int, typer.Option(help="Clusters of a silver log.")] = 5_000,
    times: Annotated[int, typer.Option(min=1, help="Models, each trained on the clusters before.")] = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Score each log by words and by its own models."""
    if silver and dataset is None:
        raise typer.BadParameter("--silver needs --dataset")
    report = Report(as_json=as_json, seed=seed, clusters=clusters)
    for name in (*(logs or ()), *(f"silver {name}" for name in silver or ())):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.jsonl"
            if name.isdigit():
                path = Path(simulate(folder, events=int(name), seed=seed))
                log = known_of_simulated(path)
            elif dataset is not None and name.startswith("silver "):
                log = silver_log(dataset, name.removeprefix("silver "), clusters=clusters, seed=seed)
                log.write(path)
            else:
                log = known_log(name, seed=seed)
                log.write(path)
            for result in rounds(log, path, times=times, seed=seed):
                report.row(**dataclasses.asdict(result))


if __name__ == "__main__":
    run(own_model)
