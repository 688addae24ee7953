"""Coverage of the intervals for the worth of answers, on logs whose paraphrases are known.

Run: python -m benchmarks.labels.worth 60000 helpdesk-wrong facts

A log is one of `benchmarks.labels.known_logs`, or a simulated one by its number of events. The truth of an answer is
the share of the pairs of its questions that are paraphrases. The linkage and its neighbours run in this process, as the
pipeline runs them.
"""

from __future__ import annotations

import collections
import dataclasses
import tempfile
from collections.abc import Mapping
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.known_logs import LOGS, KnownLog, MissingDataError, known_log
from benchmarks.labels.neighbours import QUESTIONS_A_SHARD, by_shard, joined
from benchmarks.measure import simulate
from pipelines.calibration.gold_labels import Gold, gold_of
from pipelines.clusters.answer_worth import kind_counts, shares_of_answers
from pipelines.linkage.linker import Linker
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.witnesses import NEAREST, Evidence, agreement_of, find_witnesses, standings_of
from pipelines.questions.answer_kinds import KINDS
from pipelines.questions.token_frequencies import TokenWeights, frequent
from pipelines.summary.worth_by_kind import posterior, worth_of_kinds
from schemas.ragged import sizes_of_runs, starts_of_runs, sums_of_runs
from schemas.tables import QA_LOG
from schemas.text import fold, question_id

DEFAULT = ("20000", "60000", "helpdesk", "helpdesk-wrong", "value-templates", "skewed-templates", "facts")

_ORDER = [("answer_id", "ascending"), ("question_id", "ascending"), ("similarity", "descending")]


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


def gold_of_known(log: KnownLog) -> tuple[Gold, frozenset[str]]:
    """Return a known log with its judged answers; a question that was not judged is alone."""
    group_of: Mapping[tuple[str, int], int] = {(j.answer, j.question): j.group for j in log.judged}
    columns = {column: pa.nulls(len(log.rows), QA_LOG.field(column).type) for column in QA_LOG.names}
    columns |= {"question": pa.array([q for q, _ in log.rows]), "answer": pa.array([a for _, a in log.rows])}
    places = [(fold(answer), question_id(question)) for question, answer in log.rows]
    columns["gold"] = pa.array([str(group_of.get(place, f"alone {place[1]}")) for place in places])
    return gold_of([pa.table(columns)]), frozenset(judged.answer for judged in log.judged)


def gold_of_simulated(url: str) -> Gold:
    """Return a simulated log."""
    table = pq.read_table(url)
    columns = {name: table[name].cast(QA_LOG.field(name).type) for name in QA_LOG.names}
    return gold_of([pa.table(columns | {"gold": table["gold_cluster"]})])


def linked_alone(gold: Gold) -> tuple[pa.Table, np.ndarray, TokenWeights, Evidence]:
    """Return the questions of the answers with several, their gold clusters, weights, and neighbours by the join."""
    counted = pc.value_counts(gold.members["answer_id"])
    several = counted.field("values").filter(pc.greater(counted.field("counts"), 1))
    kept = pc.is_in(gold.members["answer_id"], value_set=several)
    weights = frequent(gold.weights)
    shards = max(1, round(len(gold.members) / QUESTIONS_A_SHARD))
    neighbours, _ = joined(by_shard([gold.members], "answer_id", shards), weights, NEAREST, shards)
    standings = standings_of(neighbours.sort_by(_ORDER))
    evidence = Evidence(standings, agreement_of(standings))
    return gold.members.filter(kept), gold.cluster[kept.to_numpy()], weights, evidence


def coverage(gold: Gold, judged: frozenset[str] | None = None) -> Coverage:
    """Estimate the worth of each answer, and compare.

    Args:
        gold: the log.
        judged: folded texts of the answers whose paraphrases are known; None: of all.
    """
    members, cluster, weights, evidence = linked_alone(gold)
    shares = shares_of_answers(Linker(load_model())(members, weights, evidence), members)
    counters = kind_counts(shares)
    starts = starts_of_runs(members["answer_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(members))
    truth = true_shares(cluster, starts, sizes)
    found = zip(shares.share.tolist(), shares.questions.tolist(), shares.kinds.tolist(), strict=True)
    value, low, high = np.array([posterior(share, n, KINDS[kind], counters) for share, n, kind in found]).T
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
    right = np.bincount(places[0], counts * (counts - 1) / 2, len(starts))
    share: np.ndarray = right / (sizes * (sizes - 1) / 2)
    return share


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1]) if one.std() > 0 and other.std() > 0 else 0.0


def main(
    logs: Annotated[list[str] | None, typer.Argument(help="Logs by name, or a number of events.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each log."""
    report = Report(as_json=as_json, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        for name in logs or DEFAULT:
            try:
                if name in LOGS:
                    found = coverage(*gold_of_known(known_log(name, seed=seed)))
                else:
                    found = coverage(gold_of_simulated(simulate(folder, events=int(name), seed=seed)))
            except MissingDataError as error:
                report.row(log=name, result=f"skipped: {error}")
                continue
            report.row(log=name, **dataclasses.asdict(found))


if __name__ == "__main__":
    run(main)
