"""Share of queries that may be answered at a share of wrong answers: confidence model against distance.

The confidence model is fitted to the validation clusters of a dataset as `qpr index` does it, and measured on the
queries of test, each with and without its paraphrases in the index. Rows "as indexed" do not correct for what the
clusters give away of a query that is left out; their model may give hits less probability for more cluster mates.

Run: python -m benchmarks.retrieval.confidence --dataset quora --index index
"""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
import typer

from benchmarks.cli import AsJson, Pairs, Report, run
from jobs.workflows.confidence import MOST_QUERIES, counts_of
from model.confidence import fitting
from model.confidence.confidence import Confidence
from model.confidence.examples import Examples, examples
from model.confidence.features import NAMES, SIGNS
from model.confidence.quality import coverage, quality
from model.evaluation.relevance import judgements
from model.index.index import Index
from model.index.ranking import Ranking
from model.search.opening import open_index
from schemas.artifacts.dataset import open_dataset

SHARES: Final = (0.01, 0.02, 0.05)
TIMED: Final = 200


def main(
    dataset: Pairs,
    index: Annotated[str, typer.Option(help="Index of the dataset.")],
    exact: Annotated[bool, typer.Option(help="Search all lists.")] = False,
    trees: Annotated[bool, typer.Option(help="Cross-validate LightGBM's trees on validation too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print coverage and calibration on validation, cross-validated, and on test."""
    opened = open_index(index, exact=exact)
    counts = counts_of(opened)
    tables = {
        split: open_dataset(dataset).table("clusters", columns=["question_ids", "texts"], split=split)
        for split in ("validation", "test")
    }
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
            ("validation", "additive, cross-validated"): fitting.cross_validated(found["validation"], signs=signs),
            ("test", "distance"): -found["test"].table[:, 0, NAMES.index("distance")],
            ("test", "additive"): fitting.first_hits(model, found["test"]),
        }
        if trees:
            scores["validation", "trees, cross-validated"] = of_trees(found["validation"])
        for (split, scorer), values in scores.items():
            for half in (False, True):
                report.row(split=split, scorer=scorer, **measured(found[split], values, half=half))
        if not as_indexed:
            confidence = Confidence(counts, model)
    report.heading("Cost")
    report.row(fit_cpu_s=fit_s, **times(opened, confidence, judged["test"].texts))


def measured(found: Examples, scores: npt.NDArray[np.float64], *, half: bool) -> dict[str, Any]:
    """Return the columns of a scorer on queries with an answer, or also without it."""
    rows = np.full(len(scores), True) if half else found.answerable
    values, right = scores[rows], found.right[rows, 0]
    cells: dict[str, Any] = {"answerable": "half" if half else "all", "right_first": float(right.mean())}
    cells |= {f"at_{share:.0%}_wrong": coverage(values, right, share) for share in SHARES}
    of_probability = quality(np.clip(values, 0, 1), right)
    is_distance = (values < 0).any()
    cells["auc"] = quality(values - values.min(), right).auc
    cells["brier"] = None if is_distance else of_probability.brier
    cells["calibration_error"] = None if is_distance else of_probability.calibration_error
    return cells


def of_trees(found: Examples) -> npt.NDArray[np.float64]:
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
    run(main)
