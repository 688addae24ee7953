"""Order of the hits of mode probability, with other numbers of hits that support their clusters, and other powers.

Run: python -m benchmarks.retrieval.cluster_support --index index --dataset quora

Queries are those of the validation clusters. A question never finds itself. The confidence model has learned from
validation, for every row alike. Power 0 adds up the scores of the hits alone, and one hit is the order of fusion. Order
power 0 leaves the hits after the first in the order of fusion.
"""

from __future__ import annotations

import itertools
import unittest.mock
from typing import Annotated, Any

import typer

from benchmarks.cli import AsJson, Pairs, Report, run
from model.evaluation.evaluator import measure, ranked_ids
from model.evaluation.relevance import judgements
from model.search import first_by_probability
from model.search.searcher import open_searcher
from schemas.artifacts.dataset import open_dataset

HITS = [1, 3, 5, 10, 20]
POWERS = [0.0, 0.5, 1.0, 1.5]
ORDER_POWERS = [first_by_probability.POWER_OF_ORDER]


def main(
    dataset: Pairs,
    index: Annotated[str, typer.Option(help="Index of that dataset, with a confidence model.")],
    hits: Annotated[list[int], typer.Option(min=1, max=20, help="Hits that support clusters; repeatable.")] = HITS,
    power: Annotated[list[float], typer.Option(min=0, help="Power of the probability; repeatable.")] = POWERS,
    order_power: Annotated[
        list[float], typer.Option(min=0, help="Power of the probability of a hit after the first; repeatable.")
    ] = ORDER_POWERS,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of queries.")] = 1_000,
    as_json: AsJson = False,
) -> None:
    """Measure each number of hits with each power on validation."""
    judged = judgements(open_dataset(dataset).cluster_texts("validation"), limit=limit)
    searcher = open_searcher(index, mode="probability")
    report = Report(as_json=as_json, seed=0, split="validation", queries=len(judged))
    for number, exponent, of_order in itertools.product(hits, power, order_power):
        if number == 1 and (exponent, of_order) != (power[0], order_power[0]):
            continue  # one hit keeps its place with each power
        powers: dict[str, Any] = {"COMPARED": number, "POWER": exponent, "POWER_OF_ORDER": of_order}
        with unittest.mock.patch.multiple(first_by_probability, **powers):
            metrics = measure(searcher.index, judged, ranked_ids(searcher, judged, depth=20))
        report.row(
            hits=number,
            power=exponent,
            order_power=of_order,
            **{name: metrics["per_question"][name] for name in ("hits_at_1", "mrr", "ndcg_at_10")},
            pair_mrr=metrics["per_pair"]["mrr"],
        )


if __name__ == "__main__":
    run(main)
