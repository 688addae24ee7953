"""Coverage of the intervals for the worth of answers, on logs whose paraphrases are known.

Run: python -m benchmarks.labels.intents.worth 60000 helpdesk-wrong facts

A log is one of `benchmarks.logs.known_logs`, or a simulated one by its number of events. The truth of an answer is
the share of the pairs of its questions that are paraphrases. The linkage and its neighbours run in this process, as the
pipeline runs them.
"""

from __future__ import annotations

import collections
import dataclasses
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.logs.gold_logs import gold_logs, linked_alone
from pipelines.calibration.gold_labels import Gold
from pipelines.clusters.answer_worth import kind_counts, shares_of_answers
from pipelines.linkage.linker import Linker
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.witnesses import find_witnesses
from pipelines.questions.answer_kinds import KINDS
from pipelines.summary.worth_by_kind import posterior, worth_of_kinds
from schemas.ragged import pairs_in_runs, runs_of, sums_of_runs
from schemas.text import fold

DEFAULT = ("20000", "60000", "helpdesk", "helpdesk-wrong", "value-templates", "skewed-templates", "facts")


@dataclasses.dataclass(frozen=True)
class Coverage:
    """Estimates of the judged answers of a log, compared with the truth.

    Attributes:
        answers: number of judged answers with several questions.
        truth: mean share of the pairs of an answer that are paraphrases.
        linked: mean of the linkage's share.
        estimate: mean of the estimates.
        covered: share of the answers whose interval contains the truth.
        width: mean width of the intervals.
        error_linked: mean absolute error of the linkage's share.
        error: mean absolute error of the estimate.
        kinds_covered: share of the kinds of answers whose interval contains the mean truth of their judged answers.
        with_events: correlation of the truth minus the linkage's share with the logarithm of the events of a question.
        with_agreement: the same with the share of the questions whose nearest question has the same answer.
    """

    answers: int
    truth: float
    linked: float
    estimate: float
    covered: float
    width: float
    error_linked: float
    error: float
    kinds_covered: float
    with_events: float
    with_agreement: float


def coverage(gold: Gold, judged: frozenset[str] | None = None) -> Coverage:
    """Estimate the worth of each answer, and compare.

    Args:
        gold: the log.
        judged: folded texts of the answers whose paraphrases are known; None: of all.
    """
    members, cluster, weights, evidence = linked_alone(gold)
    shares = shares_of_answers(Linker(load_model())(members, weights, evidence), members)
    counters = kind_counts(shares)
    starts, sizes = runs_of(members["answer_id"].to_numpy())
    truth = true_shares(cluster, starts, sizes)
    of_answers = zip(shares.share.tolist(), shares.questions.tolist(), shares.kinds.tolist(), strict=True)
    value, low, high = np.array([posterior(share, n, KINDS[kind], counters) for share, n, kind in of_answers]).T
    is_judged = np.array([judged is None or fold(text) in judged for text in shares.answers.to_pylist()])
    events = sums_of_runs(members["events"].to_numpy(), starts) / sizes
    agreeing = find_witnesses(members, weights, evidence).agreeing
    agreement = sums_of_runs(agreeing.astype(float), starts) / sizes
    true_of_kind = collections.defaultdict(list)
    for kind, share in zip(shares.kinds[is_judged].tolist(), truth[is_judged].tolist(), strict=True):
        true_of_kind[KINDS[kind]].append(share)
    inside = [
        kind.worth.low <= float(np.mean(true_of_kind[kind.kind])) <= kind.worth.high
        for kind in worth_of_kinds(counters)
        if true_of_kind[kind.kind]
    ]
    right, linked, estimate = (values[is_judged] for values in (truth, shares.share, value))
    return Coverage(
        answers=len(right),
        truth=float(right.mean()),
        linked=float(linked.mean()),
        estimate=float(estimate.mean()),
        covered=float(((low <= truth) & (truth <= high))[is_judged].mean()),
        width=float((high - low)[is_judged].mean()),
        error_linked=float(np.abs(linked - right).mean()),
        error=float(np.abs(estimate - right).mean()),
        kinds_covered=float(np.mean(inside)),
        with_events=_correlation(np.log(events[is_judged]), right - linked),
        with_agreement=_correlation(agreement[is_judged], right - linked),
    )


def true_shares(cluster: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return for each answer the share of its pairs that are paraphrases."""
    answer = np.repeat(np.arange(len(starts)), sizes)
    places, counts = np.unique(np.stack([answer, cluster]), axis=1, return_counts=True)
    right = np.bincount(places[0], pairs_in_runs(counts), len(starts))
    share: np.ndarray = right / pairs_in_runs(sizes)
    return share


def _correlation(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.corrcoef(left, right)[0, 1]) if left.std() > 0 and right.std() > 0 else 0.0


def main(
    logs: Annotated[list[str] | None, typer.Argument(help="Logs by name, or a number of events.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each log."""
    report = Report(as_json=as_json, seed=seed)
    for name, gold, judged in gold_logs(logs or DEFAULT, report, seed=seed):
        report.row(log=name, **dataclasses.asdict(coverage(gold, judged)))


if __name__ == "__main__":
    run(main)
