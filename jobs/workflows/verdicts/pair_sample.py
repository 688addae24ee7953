"""The work of ``qpr sample --for-calibration``: pairs worth judging.

dataset -> pair_sample -> rows -> write_pair_sample -> CSV or JSON Lines with an empty column verdict
"""

from __future__ import annotations

import collections
import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jobs.display.console import emit, say, two_columns
from jobs.display.safe_text import csv_bytes, terminal_text
from jobs.options.sample import Sample
from jobs.workflows.verdicts.stored_evidence import refuse_calibrated
from schemas.artifacts import conditional_writes
from schemas.artifacts.dataset import open_dataset
from schemas.errors import QprError, UsageError
from schemas.quantities import counted

if TYPE_CHECKING:
    from pipelines.calibration.verdicts.draws import Draw, SampledPair
    from pipelines.calibration.verdicts.verdict_file import Verdicts


def write_pair_sample(url: str, settings: Sample, *, output: str | None, overwrite: bool, as_json: bool) -> None:
    """Draw pairs and write them to a file, or print them.

    Raises:
        UsageError: the file's name ends in neither .csv nor .jsonl.
        QprError: the dataset cannot be read, or the file exists.
    """
    if output is not None:
        if not output.endswith((".csv", ".jsonl")):
            raise UsageError(f"--output {output}: must end in .csv or .jsonl, the formats of verdicts")
        conditional_writes.refuse_existing(output, overwrite=overwrite)
    count = settings.for_calibration or 0
    rows = pair_sample(url, count=count, seed=settings.seed, verdicts=settings.verdicts)
    if len(rows) < count:
        drawn = f"{len(rows):,} of {counted(count, 'pair')} were drawn"
        say(f"{url}: {drawn}: the dataset has too few pairs of questions with the same answer for more")
    if output is not None:
        conditional_writes.write_result(output, file_content(rows, output), overwrite=overwrite)
        result = {"output": output, "pairs": len(rows), "kept": sum(row["kept"] for row in rows)}
        emit(result, as_json=as_json, table=lambda: two_columns("Pairs to judge", result))
        say("Write right, wrong or unclear into the column verdict, from the first empty cell on")
        given = f"--dataset {shlex.quote(url)} --verdicts {shlex.quote(output)}"
        say(f"Next: qpr calibrate {given} --output CALIBRATION")
    elif as_json:
        emit({"dataset": url, "seed": settings.seed, "pairs": rows}, as_json=True, table=str)
    else:
        sys.stdout.write(terminal_text(file_content(rows, ".csv").decode("utf-8-sig"), sys.stdout))


def pair_sample(url: str, *, count: int, seed: int, verdicts: str | None = None) -> list[dict[str, Any]]:
    """Return different pairs in the order of their draw, fewer than ``count`` if there are fewer.

    Args:
        url: of the dataset.
        count: maximum number of pairs.
        seed: of the draw; a larger sample begins with a smaller one.
        verdicts: file of a judged sample; its verdicts are filled in.

    Raises:
        QprError: the dataset has no linkage probabilities, or calibrated ones, or the verdicts are of another sample.
    """
    from pipelines.calibration.verdicts.draws import OTHERS, Sampler
    from pipelines.calibration.verdicts.judged_blocks import sample_draws, verdict_on
    from pipelines.calibration.verdicts.population import read_population
    from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS
    from pipelines.calibration.verdicts.verdict_file import cluster_name

    dataset = open_dataset(url)
    refuse_calibrated(url, dataset.manifest)
    judged = judged_before(verdicts, dataset.manifest.digest, seed=seed) if verdicts is not None else None
    population = read_population(dataset)
    sampler = Sampler(dataset, population, seed)
    draws = sample_draws(sampler)
    drawn: dict[str, tuple[Draw, SampledPair]] = {}
    times = collections.Counter[str]()
    strata = collections.Counter[int]()
    for draw, pair in zip(draws, sampler.pairs(draws), strict=True):
        if pair.pair_id not in drawn and len(drawn) == count:
            break
        drawn.setdefault(pair.pair_id, (draw, pair))
        times[pair.pair_id] += 1
        strata[draw.stratum] += 1
    kept, others = float(population.pairs.sum()) / KEPT_DRAWS, float(population.other_pairs.sum())
    return [
        {
            "verdict": (verdict_on(judged, pair) if judged else None) or "",
            "question_1": pair.texts[0],
            "question_2": pair.texts[1],
            "answer": pair.answer,
            "pair_id": name,
            "dataset": dataset.manifest.digest,
            "seed": seed,
            "kept": pair.cluster_id is not None,
            "probability": pair.probability,
            "stratum": "not kept" if draw.stratum == OTHERS else f"kept {draw.stratum + 1}",
            "weight": times[name] * (others if draw.stratum == OTHERS else kept) / strata[draw.stratum],
            "cluster_id": None if pair.cluster_id is None else cluster_name(pair.cluster_id),
            "question_id_1": str(pair.question_ids[0]),
            "question_id_2": str(pair.question_ids[1]),
        }
        for name, (draw, pair) in drawn.items()
    ]


def judged_before(file: str, digest: str, *, seed: int) -> Verdicts:
    """Return the verdicts of a file.

    Args:
        file: a judged sample.
        digest: of the dataset that was sampled.
        seed: of the sample.

    Raises:
        UsageError: several files are given.
        QprError: the file cannot be read, or is of another dataset or seed.
    """
    from pipelines.calibration.verdicts.verdict_file import read_verdicts
    from pipelines.reading.sources import only_file

    verdicts = read_verdicts(only_file(file, option="--verdicts"), digest)
    if verdicts.seed != seed:
        raise QprError(f"{file}: judges the sample with seed {verdicts.seed}. Add --seed {verdicts.seed}")
    return verdicts


def file_content(rows: list[dict[str, Any]], name: str) -> bytes:
    """Return the rows as JSON Lines if ``name`` ends so, otherwise as CSV with a header."""
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    return csv_bytes(pa.Table.from_pylist(rows))
