"""Precision and recall of the shipped trees at each estimated precision, on the logs kept back from learning.

Run: python -m benchmarks.labels.kept_back --dataset quora --refine-with static

Quora's logs are those of `benchmarks.labels.answer_splits`, drawn from the third of the learning half that the trees
have not learned from, once for each number of unrelated answers, which ends their names; templates are drawn with
another seed. Cells show the threshold that is chosen for the log, pair precision / recall and the share of two-in-one
answers kept whole; the last columns are the share of the answers of skewed templates of which a wrong pair is kept, and
the figures of small logs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.cli import Pairs as PairsUrl
from benchmarks.labels.learning.candidate_pairs import gather, threshold_of_log
from benchmarks.labels.learning.learning_sets import parts_of, quora_logs, read_small_logs, template_logs
from benchmarks.labels.silver_scores import answers, score
from benchmarks.logs.cluster_sources import Source
from benchmarks.logs.silver_logs import SilverLog
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.neighbours.embeddings import Encode

CLUSTERS = 5_000
DRAWS_OF_SMALL_KEPT = 6

UNRELATED_KEPT = (0.1, 0.45)
"""Answers of strays only, for each cluster, in the draws of Quora's logs that are kept back."""

SEED_OF_KEPT = 1_000
"""Added to the seed for the draws of what is kept back."""

PRECISIONS = (0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96)
"""Estimated shares whose figures are reported."""


class Pairs(NamedTuple):
    """A log, its candidate pairs, whether they are paraphrases, and the probability that they are."""

    log: SilverLog
    left: np.ndarray
    right: np.ndarray
    same: np.ndarray
    probability: np.ndarray


def judged(log: SilverLog, model: LinkModel, encode: Encode | None = None) -> Pairs:
    """Return the candidate pairs of a log with their probabilities."""
    pairs = gather(log, encode, neighbours=True, words_too=model.words_too, alignment=model.alignment)
    left, right, answer, features = pairs.compared
    return Pairs(log, left, right, log.gold[left] == log.gold[right], model.pairs.probability(features, answer))


def group_at(pairs: Pairs, lowest: float, precision: float) -> tuple[float, np.ndarray]:
    """Return the threshold of a log at an estimated precision, and the group of every row."""
    log, left, right, _, probability = pairs
    threshold = threshold_of_log(log, left, right, probability, lowest=lowest, precision=precision)
    return threshold, agglomerate(left, right, probability, rows=len(log.gold), threshold=threshold)


def report_precisions(kept_back: dict[str, Pairs], small: list[Pairs], model: LinkModel, report: Report) -> None:
    """Print the threshold and figures of each log at each estimated precision.

    Args:
        kept_back: logs by name.
        small: small logs, which are counted together.
        model: the trees, with the lowest threshold and that of small logs.
        report: where the figures are printed.
    """
    of_small = figures_of_small(small, model.threshold_of_small or model.threshold)
    for precision in PRECISIONS:
        groups = {name: group_at(pairs, model.threshold, precision) for name, pairs in kept_back.items()}
        figures = {name: score(kept_back[name].log, group) for name, (_, group) in groups.items()}
        shown = {
            name: f"{groups[name][0]:.2f}: {f.precision:.3f}/{f.recall:.3f} whole {f.whole:.3f}"
            for name, f in figures.items()
        }
        skewed = touched(kept_back["skewed"], groups["skewed"][1])
        report.row(precision=precision, **shown, touched=skewed, small=of_small)


def figures_of_small(logs: list[Pairs], threshold: float) -> str:
    """Return pair precision and recall over all small logs."""
    kept = right = 0
    for pairs in logs:
        rows = len(pairs.log.gold)
        group = agglomerate(pairs.left, pairs.right, pairs.probability, rows=rows, threshold=threshold)
        together = group[pairs.left] == group[pairs.right]
        kept, right = kept + int(together.sum()), right + int((together & pairs.same).sum())
    return f"{right / max(kept, 1):.3f}/{right / max(sum(int(pairs.same.sum()) for pairs in logs), 1):.3f}"


def report_kept_back(
    kept: Source,
    model: LinkModel,
    encode: Encode | None,
    report: Report,
    *,
    clusters: int,
    seed: int,
    unrelated: Sequence[float] = UNRELATED_KEPT,
) -> None:
    """Print the figures of trees on clusters kept back from learning and on other draws of the templates.

    Args:
        kept: part of the learning half.
        model: the trees, with the lowest threshold.
        encode: encoder of the texts, if the trees use one.
        report: where the figures are printed.
        clusters: maximum number of clusters of each log of Quora's.
        seed: of the logs, another than that of the logs learned from.
        unrelated: number of answers with strays only for each cluster, a draw of Quora's logs for each.
    """
    logs = itertools.chain(quora_logs(kept, clusters=clusters, seed=seed, unrelated=unrelated), template_logs(seed))
    kept_back = {name: judged(log, model, encode) for name, log in logs}
    small = [
        judged(log, model, encode)
        for draw in range(seed, seed + DRAWS_OF_SMALL_KEPT)
        for log in read_small_logs(kept, seed=draw)
    ]
    report_precisions(kept_back, small, model, report)


def touched(pairs: Pairs, group: np.ndarray) -> float:
    """Return the share of the answers with several questions of which a wrong pair is kept."""
    answer = answers(pairs.log)
    wrong = (group[pairs.left] == group[pairs.right]) & ~pairs.same
    several = int(np.count_nonzero(np.bincount(answer) > 1))
    return len(np.unique(answer[pairs.left[wrong]])) / max(several, 1)


def main(
    dataset: PairsUrl,
    refine_with: Annotated[str | None, typer.Option(help="Encoder that has not seen these clusters.")] = None,
    clusters: Annotated[int, typer.Option(help="Maximum number of clusters of each log of Quora's.")] = CLUSTERS,
    unrelated: Annotated[list[float], typer.Option(help="Unrelated answers a cluster; repeatable.")] = [
        *UNRELATED_KEPT
    ],
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each estimated precision."""
    report = Report(as_json=as_json, refine_with=refine_with, clusters=clusters, seed=seed)
    encode, kind = refining_encoder(refine_with) if refine_with else (None, None)
    kept, model = parts_of(dataset, seed=seed)[1], load_model("boosted", kind)
    seed += SEED_OF_KEPT
    report_kept_back(kept, model, encode, report, clusters=clusters, seed=seed, unrelated=unrelated)


if __name__ == "__main__":
    run(main)
