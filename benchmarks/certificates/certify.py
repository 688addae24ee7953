"""Certificates of answers: on Quora's test questions, and on simulated traffic beside MAPIE's controller.

Quora: each test question is a request twice, once with its paraphrases in the index and once without, so that half have
no answer. Its own question is left out. The confidence model is the index's, learned on validation clusters. A random
part of the requests is judged by the labels and certifies a threshold; on the rest the answers are counted. Quora left
pairs unlabelled; `quora_paraphrases.json` holds those that a reader found among the most probable hits.

Run: python -m benchmarks.certificates.certify quora --dataset quora --index index
     python -m benchmarks.certificates.certify simulated
     python -m benchmarks.certificates.certify commands --folder made, see benchmarks/certificates/certified_requests.py
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
import typer

from benchmarks.certificates.certified_requests import commands
from benchmarks.cli import AsJson, Pairs, Report, Seed, run
from model.certificates.procedure import ORDER_SHARE, certify, order_thresholds
from model.certificates.settings import Promise
from model.certificates.simulation import CURVES, simulate, true_risk
from model.confidence import fitting
from model.confidence.examples import examples
from model.confidence.saved_confidence import read_confidence
from model.evaluation.evaluator import BATCH
from model.evaluation.relevance import Judgements, judgements
from model.guards.registry import fires
from model.index.index import Index
from model.search.opening import open_index
from schemas.arrays import Bools, Float64s
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest, read_verified

Alphas = Annotated[list[float], typer.Option("--alpha", help="Promised share of wrong answers; repeatable.")]
Delta = Annotated[float, typer.Option(help="Chance that a promise is broken.")]

PARAPHRASES: Final = Path(__file__).with_name("quora_paraphrases.json")
"""Ids of test questions and first hits that are no paraphrases by Quora's labels, and are by one reader's.

Read were the different wrong hits among the 1,450 most probable ones of a default encoder (212, of which 115 are
paraphrases), then those of MiniLM that had not been found to be paraphrases (136, of which 63 are)."""


def quora(
    dataset: Pairs,
    index: Annotated[str, typer.Option(help="Index of its questions, with a confidence model.")],
    alpha: Alphas = [0.05, 0.02],
    delta: Delta = 0.05,
    judged: Annotated[float, typer.Option(help="Share of the requests that is judged.")] = 0.7,
    repeats: Annotated[int, typer.Option(help="Random divisions into judged requests and the rest.")] = 200,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Certify thresholds on a part of Quora's test questions and count the answers to the rest."""
    found = first_hits(dataset, index)
    report = Report(as_json=as_json, requests=len(found.wrong), delta=delta, judged=judged, repeats=repeats, seed=seed)
    read = {tuple(pair) for pair in json.loads(PARAPHRASES.read_text())}
    settled = found.wrong & ~np.array([pair in read for pair in zip(found.questions, found.hits, strict=True)])
    for labels, wrong in (("Quora's", found.wrong), ("Quora's and a reader's", settled)):
        for guards, scores in (
            ("off", found.probability),
            ("on", np.where(found.guarded, -1, found.probability)),
        ):
            for promised in alpha:
                promise = Promise(alpha=promised, delta=delta)
                cells = divided(scores, wrong, promise, judged=judged, repeats=repeats, seed=seed)
                report.row(labels=labels, guards=guards, **cells)


class FirstHits(NamedTuple):
    """The first hit of each request.

    Attributes:
        probability: (n,) that it is right.
        wrong: (n,) it is wrong by Quora's labels, or there is none.
        guarded: (n,) a guard fires.
        questions: ids of the requests.
        hits: ids of the hits, -1 without one.
    """

    probability: Float64s
    wrong: Bools
    guarded: Bools
    questions: list[int]
    hits: list[int]


def first_hits(dataset: str, index: str) -> FirstHits:
    """Search an index by each test question, with its paraphrases and without them."""
    manifest = read_manifest(index, "index")
    if not manifest.of("confidence"):
        raise SystemExit(f"{index}: has no confidence model. Build it from a dataset with validation clusters")
    confidence = read_confidence(read_verified(index, manifest.of("confidence")[0]), source=index)
    judged, opened = judgements(open_dataset(dataset).cluster_texts("test")), open_index(index)
    found = examples(opened, judged, confidence.counts)
    probability = fitting.first_hits(confidence.model, found)
    hits, texts = _hit_questions(opened, judged)
    asked = judged.texts.to_pylist() * 2
    guarded = [text is not None and fires(query, text) is not None for query, text in zip(asked, texts, strict=True)]
    return FirstHits(probability, ~found.right[:, 0], np.array(guarded), judged.ids.tolist() * 2, hits)


def _hit_questions(index: Index, judged: Judgements) -> tuple[list[int], list[str | None]]:
    """Return ids and texts of the first hit of each query, then of the first that is none of its paraphrases."""
    relevant: list[set[int]] = [set() for _ in range(len(judged))]
    for query, paraphrase in zip(judged.queries.tolist(), judged.relevant.tolist(), strict=True):
        relevant[query].add(paraphrase)
    depth = min(max(map(len, relevant)) + 1, len(index))
    first: list[tuple[int, int]] = []
    other: list[tuple[int, int]] = []
    for start in range(0, len(judged), BATCH):
        part = slice(start, start + BATCH)
        ranking = index.rank(judged.texts.slice(start, BATCH), depth, exclude=judged.ids[part])
        listed = [[*zip(*pair, strict=True)] for pair in zip(ranking.ids.tolist(), ranking.rows.tolist(), strict=True)]
        first += [pairs[0] for pairs in listed]
        other += [
            next((pair for pair in pairs if pair[0] not in paraphrases), (-1, -1))
            for pairs, paraphrases in zip(listed, relevant[part], strict=True)
        ]
    both = first + other
    texts = index.questions([max(row, 0) for _, row in both])["text"].to_pylist()
    return [hit for hit, _ in both], [text if row >= 0 else None for text, (_, row) in zip(texts, both, strict=True)]


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
    run(quora, simulated, commands)
