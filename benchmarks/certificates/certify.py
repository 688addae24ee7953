"""Certificates of answers: on Quora's test questions, and on simulated traffic beside MAPIE's controller.

Quora: each test question is a request twice, once with its paraphrases in the index and once without, so that half have
no answer. Its own question is left out. The confidence model is the index's, learned on validation clusters. A random
part of the requests is judged and certifies a threshold; on the rest the answers are counted. Quora left pairs
unlabelled, so the most probable hits were read; `sheet` writes the pairs to read of another index.

Run: python -m benchmarks.certificates.certify quora --dataset quora --index index
     python -m benchmarks.certificates.certify sheet --dataset quora --index index --output sheet.csv
     python -m benchmarks.certificates.certify simulated
     python -m benchmarks.certificates.certify commands --folder made, see benchmarks/certificates/certified_requests.py
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import pyarrow.csv
import typer

from benchmarks.certificates import quora_requests
from benchmarks.certificates.certified_requests import commands
from benchmarks.certificates.quora_requests import Split, first_hits, read_verdicts
from benchmarks.cli import AsJson, Pairs, Report, Seed, run
from model.certificates.procedure import ORDER_SHARE, certify, order_thresholds
from model.certificates.settings import Promise
from model.certificates.simulation import CURVES, simulate, true_risk
from schemas.arrays import Bools, Float64s
from schemas.errors import UsageError

Alphas = Annotated[list[float], typer.Option("--alpha", help="Promised share of wrong answers; repeatable.")]
Delta = Annotated[float, typer.Option(help="Chance that a promise is broken.")]
IndexUrl = Annotated[str, typer.Option("--index", help="Index of its questions, with a confidence model.")]

MOST_PROBABLE: Final = (500, 1_000, 1_500, 1_900)
"""Numbers of most probable requests for which labels and verdicts are compared."""


def quora(
    dataset: Pairs,
    index: IndexUrl,
    alpha: Alphas = [0.05, 0.02],
    delta: Delta = 0.05,
    judged: Annotated[float, typer.Option(help="Share of the requests that is judged.")] = 0.7,
    repeats: Annotated[int, typer.Option(help="Random divisions into judged requests and the rest.")] = 200,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Certify thresholds on a part of Quora's test questions and count the answers to the rest."""
    found, read = first_hits(dataset, index), read_verdicts()
    report = Report(as_json=as_json, requests=len(found.wrong), delta=delta, judged=judged, repeats=repeats, seed=seed)
    order = found.most_probable()
    for most in MOST_PROBABLE:
        report.row(most_probable=most, **found.take(order[:most]).compared(read))
    for labels, wrong in (("Quora's", found.wrong), ("verdicts, else Quora's", found.judged(read))):
        for guards, scores in (("off", found.probability), ("on", found.unguarded)):
            for promised in alpha:
                promise = Promise(alpha=promised, delta=delta)
                cells = divided(scores, wrong, promise, judged=judged, repeats=repeats, seed=seed)
                report.row(labels=labels, guards=guards, **cells)


def sheet(
    dataset: Pairs,
    index: IndexUrl,
    output: Annotated[Path, typer.Option(help="CSV file to write.")],
    split: Annotated[Split, typer.Option(help="Split with the questions that are requests.")] = "test",
    most: Annotated[int, typer.Option(min=1, help="Number of most probable requests.")] = MOST_PROBABLE[-1],
    seed: Seed = 0,
) -> None:
    """Write the pairs of request and first hit to read, without probabilities and labels, in a random order."""
    if output.is_dir():
        raise UsageError(f"{output}: is a folder. Name a file")
    output.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(quora_requests.sheet(first_hits(dataset, index, split), most=most, seed=seed), output)


def divided(
    probability: Float64s, wrong: Bools, promise: Promise, *, judged: float, repeats: int, seed: int
) -> dict[str, float]:
    """Return the answers that certificates of random parts of the requests permit on the rest.

    Args:
        probability: (n,) of the first hit.
        wrong: (n,) it is wrong, or there is none.
        promise: to certify.
        judged: share of the requests that certify.
        repeats: number of divisions.
        seed: of the divisions.
    """
    rng = np.random.default_rng(seed)
    answers, failures, shares, broken = [], [], [], []
    for _ in range(repeats):
        order = rng.permutation(len(wrong))
        sample, rest = np.split(order, [int(judged * len(order))])
        in_order = np.arange(len(sample)) < int(ORDER_SHARE * len(sample))
        chosen = certify(probability[sample], wrong[sample], in_order, promise).chosen
        given = probability[rest] >= chosen.threshold if chosen else np.zeros(len(rest), bool)
        everywhere = probability >= chosen.threshold if chosen else np.zeros(len(wrong), bool)
        answers.append(int(given.sum()))
        failures.append(int((given & wrong[rest]).sum()))
        shares.append(float(given.mean()))
        broken.append(bool(everywhere.any()) and float(wrong[everywhere].mean()) > promise.alpha)
    return {
        "alpha": promise.alpha,
        "certified": float(np.mean(np.array(answers) > 0)),
        "answered": float(np.mean(shares)),
        "answered_at_most": float(best_share(probability, wrong, promise.alpha)),
        "wrong_on_the_rest": sum(failures) / max(sum(answers), 1),
        "broken": float(np.mean(broken)),
    }


def best_share(probability: Float64s, wrong: Bools, alpha: float) -> float:
    """Return the largest share that a threshold can answer with at most alpha wrong, all labels known."""
    order = np.argsort(-probability, kind="stable")
    allowed = np.flatnonzero(wrong[order].cumsum() <= alpha * np.arange(1, len(order) + 1))
    return float((allowed[-1] + 1) / len(order)) if len(allowed) else 0.0


def simulated(
    alpha: Alphas = [0.02, 0.05],
    delta: Delta = 0.05,
    sample: Annotated[int, typer.Option(help="Judged requests of a draw.")] = 4_000,
    draws: Annotated[int, typer.Option(help="Simulated samples of each traffic.")] = 2_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Certify simulated requests by this procedure, by MAPIE's controller and by the naive threshold."""
    report = Report(as_json=as_json, delta=delta, sample=sample, draws=draws, seed=seed)
    for promised in alpha:
        promise = Promise(alpha=promised, delta=delta)
        report.heading(f"at most {promised:.0%} wrong")
        for row in simulate(promise, requests=sample, draws=draws, seed=seed):
            report.row(
                traffic=row.traffic,
                method=row.method,
                certified=row.certified,
                answered=row.answered,
                broken=row.broken,
            )
        if report.has_peer("mapie"):
            for name in CURVES:
                report.row(**by_mapie(name, promise, sample=sample, draws=max(draws // 10, 1), seed=seed))


def by_mapie(name: str, promise: Promise, *, sample: int, draws: int, seed: int) -> dict[str, float | str]:
    """Return the outcome of MAPIE's fixed sequence on the thresholds of the order part."""
    from mapie.risk_control import BinaryClassificationController

    rng, curve, ranks = np.random.default_rng(seed), CURVES[name], []
    for _ in range(draws):
        rank = rng.random(sample)
        wrong = rng.random(sample) < curve(rank, promise.alpha)
        in_order = np.arange(sample) < int(ORDER_SHARE * sample)
        thresholds = order_thresholds(1 - rank[in_order], wrong[in_order], promise)
        if not len(thresholds):  # too few requests for any, which its controller does not expect
            ranks.append(0.0)
            continue
        controller = BinaryClassificationController(
            lambda x: np.column_stack([1 - x[:, 0], x[:, 0]]),
            risk="precision",
            target_level=1 - promise.alpha,
            confidence_level=1 - promise.delta,
            list_predict_params=thresholds,
            fwer_method="fixed_sequence",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where no threshold passes
            controller.calibrate((1 - rank[~in_order])[:, None], (~wrong[~in_order]).astype(int))
        valid = np.atleast_1d(controller.valid_predict_params)
        ranks.append(1 - float(valid.min()) if len(valid) else 0.0)
    found = np.array(ranks)
    broken = true_risk(curve, found, promise.alpha) > promise.alpha
    shares = {"certified": (found > 0).mean(), "answered": found.mean(), "broken": broken.mean()}
    return {"traffic": name, "method": "MAPIE"} | {name: float(share) for name, share in shares.items()}


if __name__ == "__main__":
    run(quora, sheet, simulated, commands)
