"""Share of queries that may be answered at a share of wrong answers: confidence model against distance.

The confidence model is fitted to the validation clusters of a dataset as `qpr index` does it, and measured on the
queries of test, each with and without its paraphrases in the index. Rows "as indexed" do not correct for what the
clusters give away of a query that is left out; their model may give hits less probability for more cluster mates.

With `faq`: an index of a table of questions and answers, whose model is learned from the table's own wordings. The
table has some wordings of half of the help desk's answers; what is measured are its later requests, most of half of
which have no answer in the table.

Run: python -m benchmarks.certificates.confidence clusters --dataset quora --index index
     python -m benchmarks.certificates.confidence faq --folder made
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from benchmarks.certificates.certify import divided
from benchmarks.certificates.faq_tables import Tables, tables, trained
from benchmarks.cli import AsJson, Pairs, Report, Seed, run
from benchmarks.logs.known_logs import MissingDataError
from benchmarks.measure import measure_qpr
from jobs.workflows.confidence import MOST_QUERIES, counts_of
from model.certificates.settings import Promise
from model.confidence import fitting
from model.confidence.additive_model import AdditiveModel
from model.confidence.confidence import Confidence
from model.confidence.examples import Examples, examples
from model.confidence.features import NAMES, SIGNS
from model.confidence.quality import quality
from model.evaluation.relevance import judgements
from model.index.index import Index
from model.index.ranking import Ranking
from model.search.opening import open_index
from model.search.searcher import open_searcher
from schemas.arrays import Bools, Float64s
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

SHARES: Final = (0.01, 0.02, 0.05, 0.1)
TIMED: Final = 200
ANSWERABLE_SHARES: Final = (0.5, 0.7, 0.9, 0.99)


def clusters(
    dataset: Pairs,
    index: Annotated[str, typer.Option(help="Index of the dataset.")],
    exact: Annotated[bool, typer.Option(help="Search all lists.")] = False,
    trees: Annotated[bool, typer.Option(help="Cross-validate LightGBM's trees on validation too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print coverage and calibration on validation, cross-validated, and on test."""
    opened = open_index(index, exact=exact)
    counts = counts_of(opened)
    tables = {split: open_dataset(dataset).cluster_texts(split) for split in ("validation", "test")}
    judged = {split: judgements(table, limit=MOST_QUERIES) for split, table in tables.items()}
    sizes = {f"queries_of_{split}": len(queries) for split, queries in judged.items()}
    about = {"factory": opened.settings.factory, "probes": opened.probes, "seed": 0}
    report = Report(as_json=as_json, questions=len(opened), **about, **sizes)
    for as_indexed in (False, True):
        report.heading("Clusters as indexed" if as_indexed else "Queries left out whole")
        found = {split: examples(opened, queries, counts, as_indexed=as_indexed) for split, queries in judged.items()}
        signs = {**SIGNS, **({"mates": 0} if as_indexed else {})}
        started = time.process_time()
        model = fitting.learn(found["validation"], signs)
        fit_s = time.process_time() - started
        scores = {
            ("validation", "additive, cross-validated"): fitting.out_of_fold(
                found["validation"], fitting.fold_models(found["validation"], signs)
            ),
            ("test", "distance"): -found["test"].table[:, 0, NAMES.index("distance")],
            ("test", "additive"): fitting.first_hits(model, found["test"]),
        }
        if trees:
            scores["validation", "trees, cross-validated"] = of_trees(found["validation"])
        for (split, scorer), values in scores.items():
            for half in (False, True):
                report.row(split=split, scorer=scorer, **measured(found[split], values, half=half))
        if not as_indexed:
            confidence, known = Confidence(counts, model), found
    report.heading("Probability of the first hit, where another share of the requests has an answer")
    for share in ANSWERABLE_SHARES:
        for given in sorted({fitting.ANSWERABLE, share}):
            model = fitting.learn(known["validation"], answerable_share=given)
            report.row(answerable=share, answerable_share_given=given, **stated(model, known["test"], share))
    report.heading("Cost")
    report.row(fit_cpu_s=fit_s, **times(opened, confidence, judged["test"].texts))


def measured(found: Examples, scores: Float64s, *, half: bool) -> dict[str, Any]:
    """Return the columns of a scorer on queries with an answer, or also without it."""
    rows = np.full(len(scores), True) if half else found.answerable
    return {"answerable": "half" if half else "all", **cells_of(scores[rows], found.right[rows, 0])}


def stated(model: AdditiveModel, found: Examples, share: float) -> dict[str, Any]:
    """Return the mean probability and the share of right first hits, of which ``share`` of the requests has any."""
    probabilities, right, weights = fitting.first_hits(model, found), found.right[:, 0], found.weights(share)
    return {
        "mean_probability": float(np.average(probabilities, weights=weights)),
        "right_first": float(np.average(right, weights=weights)),
        "calibration_error": quality(probabilities, right, weights).calibration_error,
    }


def coverage(scores: Float64s, right: Bools, share: float) -> float:
    """Return the largest share of queries answered, the most probable first, of which at most ``share`` are wrong.

    Queries of equal score are answered together or not at all.
    """
    order = np.argsort(-scores, kind="stable")
    answered = np.arange(1, len(order) + 1)
    allowed = np.cumsum(~right[order]) <= share * answered
    ends = np.append(np.diff(scores[order]) != 0, True)
    possible = np.flatnonzero(allowed & ends)
    return float((possible[-1] + 1) / len(order)) if len(possible) else 0.0


def cells_of(values: Float64s, right: Bools) -> dict[str, Any]:
    """Return the columns of scores of first hits, distances below 0 or probabilities, and which of these are right."""
    cells: dict[str, Any] = {"right_first": float(right.mean())}
    cells |= {f"at_{share:.0%}_wrong": coverage(values, right, share) for share in SHARES}
    of_probability = quality(np.clip(values, 0, 1), right)
    is_distance = (values < 0).any()
    cells["auc"] = quality(values - values.min(), right).auc
    cells["brier"] = None if is_distance else of_probability.brier
    cells["calibration_error"] = None if is_distance else of_probability.calibration_error
    return cells


def faq(
    folder: Annotated[Path, typer.Option(help="Folder for all that is made; what is there is used again.")],
    wordings: Annotated[int, typer.Option(help="Wordings of each answer in the table.")] = 20,
    model: Annotated[
        list[str] | None, typer.Option(help="Encoder; repeatable.", show_default="one of other questions, one of these")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print coverage and calibration of an index of a table, on requests that no part of it was learned from.

    Without a model two are trained: on the questions of the answers that are not in the table, and on the table.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        made = tables(wordings, random.Random(seed))  # no secret
    except MissingDataError as error:
        raise typer.BadParameter(str(error)) from None
    encoders = {Path(given).name: given for given in model or ()}
    if not encoders:
        rows_of = {"other answers": made.others, "the table": made.rows}
        encoders = {name: trained(folder / f"{name} {wordings}", rows) for name, rows in rows_of.items()}
    sizes = {"answers": len({a for _, a in made.rows}), "rows": len(made.rows), "requests": len(made.requests)}
    missing = sum(answer is None for _, answer in made.requests)
    report = Report(as_json=as_json, wordings=wordings, **sizes, without_an_answer=missing, seed=seed)
    scores: dict[tuple[str, int], list[Any]] = {}
    for name, encoder in encoders.items():
        for tenants in (1, 2):
            cells, *scores[name, tenants] = of_table(folder, name, encoder, made, tenants)
            report.row(encoder=name, tenants=tenants, **cells)
    report.heading("Certificates by 70 % of the requests, 200 divisions, delta 5 %")
    for (name, tenants), (guarded, right) in scores.items():
        for alpha in SHARES[1:]:
            cells = divided(guarded, ~right, Promise(alpha=alpha, delta=0.05), judged=0.7, repeats=200, seed=seed)
            report.row(encoder=name, tenants=tenants, **cells)


def of_table(
    folder: Path, name: str, encoder: str, made: Tables, tenants: int
) -> tuple[dict[str, Any], Float64s, Bools]:
    """Return the figures of an index of a table on the requests, probabilities, -1 where a guard fired, and right ones.

    With two tenants the second one has answers of its own to the questions of every other answer. Each request is asked
    for both.
    """
    table, index = folder / "table.jsonl", folder / f"index {name} {tenants}"
    second = {*sorted({answer for _, answer in made.rows})[::2]}
    answers = [{"question": q, "answer": a, "tenant": "first"} for q, a in made.rows]
    answers += [{"question": q, "answer": f"second: {a}", "tenant": "second"} for q, a in made.rows if a in second]
    kept = answers if tenants == 2 else answers[: len(made.rows)]
    table.write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8")
    options = ("--vary-by", "tenant") if tenants == 2 else ()
    measure_qpr("index", "--questions", table, "--model", encoder, "--output", index, "--overwrite", *options)
    searcher = open_searcher(str(index))
    reported = read_manifest(str(index)).distributions["confidence"]
    values, guarded, right = list[float](), list[bool](), list[bool]()
    for tenant in ("first", "second") if tenants == 2 else (None,):
        found = searcher.answer_many([q for q, _ in made.requests], filters={"tenant": tenant} if tenant else None)
        for hit, (_, answer) in zip([of.hit for of in found], made.requests, strict=True):
            wanted = f"second: {answer}" if answer in second and tenant == "second" else answer
            values.append((hit.probability or 0.0) if hit else 0.0)
            guarded.append(hit is None or hit.why.guard is not None)
            right.append(hit is not None and wanted is not None and hit.answer == wanted)
    cells = cells_of(np.array(values), np.array(right))
    of_folds = {"folds_auc": reported["auc"], "folds_error": reported["calibration_error"]}
    of_guards = np.where(guarded, -1.0, values)
    return {"mode": searcher.retrieval.mode, **cells, **of_folds}, of_guards, np.array(right)


def of_trees(found: Examples) -> Float64s:
    """Return probabilities of first hits by 200 trees of 8 leaves, cross-validated as the additive model is."""
    import lightgbm

    settings = {"objective": "binary", "num_leaves": 8, "learning_rate": 0.05, "min_data_in_leaf": 30}
    settings |= {"lambda_l2": 5, "verbose": -1, "seed": 0, "num_threads": 1, "deterministic": True}
    scores = np.zeros(len(found.groups))
    for out in fitting.folds_of(found):
        data = lightgbm.Dataset(found.table[~out, 0], found.right[~out, 0])
        scores[out] = lightgbm.train(settings, data, 200).predict(found.table[out, 0])
    return scores


def times(index: Index, confidence: Confidence, texts: Any) -> dict[str, float]:
    """Return CPU milliseconds a query, one query at a time, of the judgement of 20 hits and of the first only."""
    ranking = index.rank(texts.slice(0, TIMED), 20)
    alone = [Ranking(*(part[i : i + 1] for part in vars(ranking).values())) for i in range(len(ranking.ids))]
    clusters = [index.column("cluster_id", one.rows[one.found]) for one in alone]
    hits = [index.column("text", one.rows[one.found]) for one in alone]
    cells = {}
    for name, places, count in (("hits_20_ms", None, 20), ("first_hit_ms", [[0]], 1)):
        started = time.process_time()
        for i, one in enumerate(alone):
            confidence.judge([texts[i].as_py()], hits[i][:count], one, clusters[i], places)
        cells[name] = 1_000 * (time.process_time() - started) / len(alone)
    return cells


if __name__ == "__main__":
    run(clusters, faq)
