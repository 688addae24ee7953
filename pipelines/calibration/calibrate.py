"""Choose a threshold by what it does to clusters that are known.

Gold -> calibrate -> Calibration: weights learned on one half of the answers, curves measured on the other
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.calibration.fit_scorer import learn
from pipelines.calibration.gold_labels import Gold
from pipelines.clusters.coherence import Coherence, coherence
from pipelines.linkage.comparison.compare import Compared, Questions, compare_all
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.shipped_weights import Kind, model_of
from pipelines.neighbours.embeddings import Encode
from schemas.errors import QprError
from schemas.hashing import uniform
from schemas.quantities import counted
from schemas.ragged import pairs_in_runs, runs_of
from schemas.tables import COHERENCE_COLUMNS

THRESHOLDS: Final = tuple(round(0.02 * step, 2) for step in range(1, 50))
"""Thresholds that are tried; each groups the held-out half again."""

LINKAGE: Final = "linkage_probability"

FEWEST: Final = 50
"""Minimum pairs of paraphrases, and of other questions, in each half."""


class Point(NamedTuple):
    """Pair precision and recall of a threshold within answers; precision 1 where no pair is kept."""

    threshold: float
    precision: float
    recall: float


@dataclasses.dataclass(frozen=True)
class Calibration:
    """Weights and what thresholds do.

    Attributes:
        weights: JSON object for `pipelines.linkage.scoring.shipped_weights.model_of`.
        curves: points by the name of the score, thresholds ascending.
        counts: of answers, questions and pairs in both halves.
    """

    weights: dict[str, Any]
    curves: dict[str, list[Point]]
    counts: dict[str, int]


def calibrate(gold: Gold, *, kind: Kind, encode: Encode | None = None, seed: int = 0) -> Calibration:
    """Learn weights on one half of the answers and measure every threshold on the other.

    Args:
        gold: the log.
        kind: of model.
        encode: gives texts their vectors; their cosine is a feature then.
        seed: of the halves.

    Raises:
        QprError: the log is too small to learn from or to measure on.
    """
    learning, held_out = (_half(gold, seed=seed, second=second) for second in (False, True))
    pairs = [gather(half, encode) for half in (learning, held_out)]
    same = [half.cluster[p.left] == half.cluster[p.right] for half, p in zip((learning, held_out), pairs, strict=True)]
    _check(same)
    weights = learn(pairs[0].features, same[0], kind=kind, seed=seed)
    model = model_of(weights, source="the weights just learned")
    probability = model.pairs.probability(pairs[1].features, pairs[1].answers)
    curves = {LINKAGE: [_linked(held_out, pairs[1], probability, t) for t in THRESHOLDS], **_whole(held_out)}
    weights["threshold"] = best(curves[LINKAGE]).threshold
    counts = {
        "questions": len(gold.members),
        "pairs_learned_from": len(same[0]),
        "paraphrases_learned_from": int(same[0].sum()),
        "pairs_measured": len(same[1]),
        "paraphrases_measured": int(same[1].sum()),
    }
    return Calibration(weights, curves, counts)


def threshold_for(curve: list[Point], precision: float) -> Point:
    """Return the lowest threshold from which on the precision is reached, so the one with the best recall.

    Raises:
        QprError: no threshold reaches it; the message contains the best one's figures.
    """
    reached = [point for point in curve if point.precision >= precision and point.recall > 0]
    if not reached:
        top = max(curve, key=lambda point: (point.recall > 0, point.precision, point.recall))
        raise QprError(
            f"no threshold reaches precision {precision}; the best is {top.precision:.3f} (recall {top.recall:.3f}) at "
            f"{top.threshold}. Ask for less, or calibrate on logs of more answers"
        )
    return max(reached, key=lambda point: (point.recall, -point.threshold))


def best(curve: list[Point]) -> Point:
    """Return the point with the greatest F0.5, which counts precision twice."""

    def f_half(point: Point) -> float:
        return 1.25 * point.precision * point.recall / max(0.25 * point.precision + point.recall, 1e-12)

    return max(curve, key=lambda point: (f_half(point), -point.threshold))


def precision_recall(group: np.ndarray, cluster: np.ndarray, answer: np.ndarray) -> tuple[float, float]:
    """Return pair precision and recall of a grouping within answers.

    Args:
        group: (R,) found, no group across answers.
        cluster: (R,) true.
        answer: (R,) pairs of two answers count for nothing.
    """
    gold = pair_up(answer, cluster)
    both, grouped, true = (count_pairs(ids) for ids in (pair_up(gold, group), group, gold))
    return (both / grouped if grouped else 1.0), (both / true if true else 1.0)


def gather(gold: Gold, encode: Encode | None = None) -> Compared:
    """Return all candidate pairs of a log."""
    vectors = encode(gold.members["text"]) if encode else None
    return compare_all(Questions(gold.members, gold.weights, vectors))


def _half(gold: Gold, *, seed: int, second: bool) -> Gold:
    chosen = (uniform(gold.members["answer_id"].to_numpy(), f"calibration {seed}") >= 0.5) == second
    return Gold(gold.members.filter(pa.array(chosen)), gold.cluster[chosen], gold.weights)


def _check(same: list[np.ndarray]) -> None:
    """Refuse labels from which nothing can be learned.

    Args:
        same: for each half, whether the two questions of a pair have the same gold value.

    Raises:
        QprError: all pairs are of one kind, or a half has too few of paraphrases or of other questions of one answer.
    """
    labels = np.unique(np.concatenate(same))
    if len(labels) == 1 and min(map(len, same)) >= FEWEST:
        values = "the same value" if labels[0] else "different values"
        raise QprError(
            f"all questions of an answer have {values} in the gold column. Give a --gold-column whose values are equal "
            "for paraphrases and different for other questions of an answer"
        )
    for what, half in zip(("learn from", "measure on"), same, strict=True):
        counts = {"of paraphrases": int(half.sum()), "of other questions of one answer": int((~half).sum())}
        for kind, count in counts.items():
            if count < FEWEST:
                lack = f"{counted(count, 'pair')} {kind} to {what}, at least {FEWEST} needed"
                raise QprError(f"the logs are too few: {lack}. Give logs of more answers that hold several questions")


def _linked(gold: Gold, pairs: Compared, probability: np.ndarray, threshold: float) -> Point:
    group = agglomerate(pairs.left, pairs.right, probability, rows=len(gold.members), threshold=threshold)
    return Point(threshold, *precision_recall(group, gold.cluster, gold.members["answer_id"].to_numpy()))


def _whole(gold: Gold) -> dict[str, list[Point]]:
    """Return the curve of each coherence: answers that score at least the threshold are kept whole, others not."""
    ids = gold.members["answer_id"].to_numpy()
    starts, sizes = runs_of(ids)
    scored = coherence(gold.members["token_ids"], starts, gold.weights)
    return {COHERENCE_COLUMNS[name]: _curve(gold, scored.named(name), starts, sizes) for name in Coherence._fields}


def _curve(gold: Gold, score: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> list[Point]:
    answer, alone = gold.members["answer_id"].to_numpy(), np.arange(len(gold.members))
    points = []
    for threshold in THRESHOLDS:
        group = np.where(np.repeat(score >= threshold, sizes), np.repeat(starts, sizes), alone)
        points.append(Point(threshold, *precision_recall(group, gold.cluster, answer)))
    return points


def pair_up(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return (R,) a number for each combination of two groupings."""
    codes = [np.unique(ids, return_inverse=True)[1] for ids in (one, two)]
    combined: np.ndarray = codes[0] * (codes[1].max(initial=0) + 1) + codes[1]
    return combined


def count_pairs(ids: np.ndarray) -> int:
    """Return how many pairs of rows have the same number."""
    return int(pairs_in_runs(np.unique(ids, return_counts=True)[1]).sum())
