"""Precision that verdicts promise, compared with the true one, on logs whose paraphrases are known.

Run: python -m benchmarks.review.verdicts facts --samples 200

The known paraphrases play the person. The dataset of the whole log is cut to its judged answers, so that every pair can
be answered. The sample, the calibration and the second dataset are made by commands. Then the sample is drawn again by
other seeds, and the thresholds that it shows are compared with the true precision above them. "Naive" is the lowest
threshold above which the verdicts' own share reaches the precision. The error of exact probabilities is what their
distance from the few true pairs of each bin would be by chance alone.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.linking import of_command
from benchmarks.labels.stated_probabilities import Truth
from benchmarks.logs.known_logs import KnownLog, known_log
from benchmarks.measure import measure_qpr
from pipelines.calibration.calibrate import count_pairs
from pipelines.calibration.verdicts.draws import Sampler
from pipelines.calibration.verdicts.evidence import Evidence, gather_evidence
from pipelines.calibration.verdicts.judged_blocks import Judged
from pipelines.calibration.verdicts.population import Population, read_population
from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS, OTHER_DRAWS, SHARES
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS, REJECTED
from schemas.text import fold

BLOCK = KEPT_DRAWS + OTHER_DRAWS

Groups = Mapping[tuple[str, int], int]


def cut(dataset: Dataset, groups: Groups, url: str) -> Dataset:
    """Write the part of a dataset about judged answers as a dataset of its own."""
    answers = {answer for answer, _ in groups}
    clusters = dataset.table("clusters")
    kept = clusters.filter(pa.array([fold(answer) in answers for answer in clusters["answer"].to_pylist()], pa.bool_()))
    rejected = dataset.table("rejected")
    rejected = rejected.filter(pc.not_equal(rejected["stage"], "read"))
    payloads = [json.loads(text) for text in rejected["payload"].to_pylist()]
    rejected = rejected.filter(pa.array([fold(str(row.get("answer"))) in answers for row in payloads], pa.bool_()))
    output = Output(url, "dataset")
    files = []
    for name, table, schema in (("clusters", kept, CLUSTERS), ("rejected", rejected, REJECTED)):
        sink = io.BytesIO()
        pq.write_table(table.cast(schema), sink)
        files.append(output.write(f"{name}.parquet", sink.getvalue(), table=name, rows=len(table)))
    manifest = dataset.manifest
    output.publish(files, inputs=manifest.inputs, configuration=manifest.configuration, counters={})
    return open_dataset(url)


def truth_of(dataset: Dataset, population: Population, groups: Groups) -> Truth:
    """Count the right pairs of every cluster."""
    table = dataset.table("clusters", columns=["cluster_id", "answer", "question_ids"]).to_pylist()
    right = {}
    for row in table:
        groups_of_cluster = [groups[fold(row["answer"]), question] for question in row["question_ids"]]
        right[row["cluster_id"]] = count_pairs(np.array(groups_of_cluster))
    of_cluster = np.array([right[int(cluster)] for cluster in population.cluster_id])
    return Truth(population.probability, population.pairs, of_cluster)


def is_right(groups: Groups, answer: str, ids: Iterable[int]) -> bool:
    """Return the verdict of the known paraphrases."""
    left, right = (groups[fold(answer), question] for question in ids)
    return left == right


def answer_sample(path: Path, groups: Groups) -> None:
    """Write the verdicts into a sample."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        ids = (int(row["question_id_1"]), int(row["question_id_2"]))
        row["verdict"] = "right" if is_right(groups, row["answer"], ids) else "wrong"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def sampled_evidence(dataset: Dataset, population: Population, groups: Groups, *, seed: int, blocks: int) -> Evidence:
    """Return the evidence of a sample of a number of blocks."""
    sampler = Sampler(dataset, population, seed)
    draws = list(itertools.takewhile(lambda draw: draw.block < blocks, sampler.draws()))
    pairs = sampler.pairs(draws)
    right = np.array([is_right(groups, pair.answer, pair.question_ids) for pair in pairs])
    kept = np.array([pair.cluster_id is not None for pair in pairs])
    probability = np.array([pair.probability for pair in pairs if pair.probability is not None])
    judged = Judged(
        probability.reshape(blocks, KEPT_DRAWS),
        right[kept].reshape(blocks, KEPT_DRAWS),
        right[~kept].reshape(blocks, -1),
        len(draws),
        0,
    )
    return gather_evidence(judged, population, dataset="", inputs=[], columns={}, release="", configuration={})


def naive_threshold(evidence: Evidence, precision: float) -> float | None:
    """Return the lowest threshold above which the verdicts' own share reaches the precision."""
    probability, right = np.array(evidence.probability).ravel(), np.array(evidence.right).ravel()
    for least, _ in sorted(evidence.sets):
        inside = probability >= least
        if inside.any() and right[inside].mean() >= precision:
            return least
    return None


def by_commands(
    log: KnownLog, groups: Groups, report: Report, *, options: list[str], verdicts: int, folder: Path
) -> None:
    """Go the whole way by commands once, and report what was promised and what is true."""
    path, judged, calibration = folder / "judged.csv", folder / "cut", folder / "calibration"
    measure_qpr("sample", "--dataset", judged, "--for-calibration", verdicts, "--output", path)
    answer_sample(path, groups)
    command = [sys.executable, "-m", "jobs", "calibrate", "--dataset", judged, "--verdicts", path, "--json"]
    printed = subprocess.run(
        [*map(str, command), "--output", str(calibration)], check=True, capture_output=True, text=True
    )
    result: dict[str, Any] = json.loads(printed.stdout)
    for line in result["thresholds"]:
        cells: dict[str, object] = {"precision": line["precision"], "verdicts": verdicts, "missing": line["missing"]}
        if line["stated"] is None:
            report.row(**cells, estimated="", true="", recall="")
            continue
        made = of_command(log, *options, "--calibration", str(calibration), "--precision", str(line["precision"]))
        estimate = line["estimates"]["precision"]
        shown = f"{estimate['value']:.3f} ({estimate['low']:.3f}-{estimate['high']:.3f})"
        report.row(**cells, estimated=shown, true=made.precision, recall=made.recall)


def verdicts(
    log: Annotated[str, typer.Argument(help="Log whose paraphrases are known.")] = "facts",
    count: Annotated[int, typer.Option(help="Verdicts of the way by commands.")] = 150,
    samples: Annotated[int, typer.Option(help="Samples with other seeds.")] = 200,
    options: Annotated[str, typer.Option(help="Further options of qpr clusters.")] = "",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare promises with the truth and print tables."""
    judged_log = known_log(log, seed=seed)
    groups = {(judged.answer, judged.question): judged.group for judged in judged_log.judged}
    report = Report(as_json=as_json, log=log, verdicts=count, samples=samples, seed=seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        judged_log.write(folder / "log.jsonl")
        given = options.split()
        measure_qpr("clusters", folder / "log.jsonl", "--output", folder / "whole", "--max-reject-ratio", 1, *given)
        dataset = cut(open_dataset(str(folder / "whole")), groups, str(folder / "cut"))
        population = read_population(dataset)
        truth = truth_of(dataset, population, groups)
        report.heading("By commands, one sample")
        by_commands(judged_log, groups, report, options=given, verdicts=count, folder=folder)
        report.heading("Many samples")
        for blocks in (18, 36, 72):
            compare(
                dataset, population, truth, groups, report, blocks=blocks, seeds=range(seed + 1, seed + 1 + samples)
            )


def compare(
    dataset: Dataset,
    population: Population,
    truth: Truth,
    groups: Groups,
    report: Report,
    *,
    blocks: int,
    seeds: Iterable[int],
) -> None:
    """Report how often promises of samples are kept, and the error of the calibrated probability."""
    evidence = [sampled_evidence(dataset, population, groups, seed=seed, blocks=blocks) for seed in seeds]
    stated, exact = truth.calibration_error(truth.probability), truth.error_of_exact()
    errors = [truth.calibration_error(np.array([e.calibrated(p) for p in truth.probability])) for e in evidence]
    possible = max(truth.precision(float(np.quantile(truth.probability, 1 - share))) for share in SHARES)
    for precision in (0.6, 0.7, 0.8, 0.9):
        shown = [e.threshold(precision) for e in evidence]
        naive = [naive_threshold(e, precision) for e in evidence]
        promised = [line.probability for line in shown if line.probability is not None]
        report.row(
            verdicts=BLOCK * blocks,
            precision=precision,
            shown=len(promised) / len(evidence),
            broken=sum(truth.precision(least) < precision for least in promised) / len(evidence),
            naive_broken=sum(least is not None and truth.precision(least) < precision for least in naive) / len(naive),
            share_kept=float(np.mean([line.share for line in shown])),
            true_of_all=truth.precision(0.0),
            true_of_best=possible,
            error_before=stated,
            error_after=float(np.mean(errors)),
            error_of_exact=exact,
        )


if __name__ == "__main__":
    run(verdicts)
