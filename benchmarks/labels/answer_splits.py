"""Pair precision and recall of every method to split an answer, on logs with known clusters.

Run: python -m benchmarks.labels.answer_splits --dataset quora --clusters 5000

The weights come from one half of the clusters (`benchmarks.labels.learn_weights`); the other half is scored. In log (b)
clusters that share an answer have nothing in common on purpose; in (c) they share the rarest word that all questions of
a cluster have; in (d) that word is the rarest of those that at least 50 clusters have, so that the groups of (d) are as
large as in (b) and the words less specific; in (topic) it is the rarest of those that at least 4 clusters have; (a) is
simulated. Columns: the shares of unrelated answers kept and of
two-in-one answers kept whole; the same figures with the gate, and with the gate of whole answers (.1).
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.cli import Pairs as PairsUrl
from benchmarks.labels.learn_weights import KIND
from benchmarks.labels.learning.candidate_pairs import Pairs, gather, grouping
from benchmarks.labels.silver_scores import MIN_COHERENCE, answers, gated, score
from benchmarks.logs.cluster_sources import halves
from benchmarks.logs.silver_logs import LOGS, SilverLog, merged_log, simulated_log
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.scoring import fellegi_sunter
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import load_model
from schemas.artifacts.dataset import open_dataset

STRICT = 0.1
"""The gate of whole answers, for comparison."""


def score_log(report: Report, name: str, log: SilverLog, *, refine_with: str | None) -> None:
    """Print the figures of every method on one log."""
    whole = answers(log)
    report.heading(f"({name}) {len(log.gold):,} questions under {whole.max() + 1:,} answers")
    _row(report, "no filter", log, lambda: whole)
    for coherence in ("paper", "idf"):
        _row(report, f"{coherence} coherence >= .1", log, functools.partial(gated, log, whole, coherence, STRICT))
    pairs = gather(log)
    _row_of_model(report, "fellegi-sunter", pairs, lambda: _unsupervised(pairs))
    _row_of_model(report, KIND, pairs, functools.partial(load_model, KIND))
    _row_of_model(report, "boosted", gather(log, neighbours=True), load_model)
    if refine_with:
        encode, encoder_kind = refining_encoder(refine_with)
        model = load_model("boosted", encoder_kind)
        pairs = gather(log, encode, neighbours=True, words_too=model.words_too, alignment=model.alignment)
        _row_of_model(report, f"boosted, {encoder_kind}", pairs, lambda: model)


def _unsupervised(pairs: Pairs) -> LinkModel:
    fitted = fellegi_sunter.fit(pairs.compared.features, pairs.compared.answers)
    return LinkModel(fitted, fellegi_sunter.THRESHOLD)


def _row_of_model(report: Report, title: str, pairs: Pairs, make: Callable[[], LinkModel]) -> None:
    def group() -> np.ndarray:
        model = make()
        compared = pairs.compared
        return grouping(pairs, model.pairs.probability(compared.features, compared.answers), model)

    _row(report, title, pairs.log, group)


def _row(report: Report, title: str, log: SilverLog, make: Callable[[], np.ndarray]) -> None:
    started = time.process_time()
    group = make()
    spent = time.process_time() - started
    plain, after, strict = (score(log, g) for g in (group, gated(log, group), gated(log, group, least=STRICT)))
    figures = {"precision": plain.precision, "recall": plain.recall, "unrelated": plain.unrelated, "whole": plain.whole}
    figures |= {"gate: precision": after.precision, "gate: recall": after.recall, "gate: unrelated": after.unrelated}
    figures |= {"gate .1: precision": strict.precision, "gate .1: recall": strict.recall}
    report.row(method=title, **figures, cpu_s=spent)


def main(
    dataset: PairsUrl,
    clusters: Annotated[int, typer.Option(help="Clusters to score.")] = 20_000,
    logs: Annotated[str | None, typer.Option(help="Simulated Parquet log, for (a).")] = None,
    refine_with: Annotated[str | None, typer.Option(help="Encoder that has not seen the clusters scored.")] = None,
    half: Annotated[Literal["learning", "scored"], typer.Option(help="Half of the clusters to score.")] = "scored",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Score the shipped weights and the other methods."""
    scored = halves(open_dataset(dataset), seed=seed)[half == "scored"]
    scored = dataclasses.replace(scored, clusters=scored.clusters[:clusters])
    report = Report(as_json=as_json, seed=seed, half=half, minimum_idf_coherence_of_the_gate=MIN_COHERENCE)
    for name, alike in LOGS.items():
        score_log(report, name, merged_log(scored, seed=seed + 2, alike=alike), refine_with=refine_with)
    if logs:
        score_log(report, "a", simulated_log(logs), refine_with=refine_with)


if __name__ == "__main__":
    run(main)
