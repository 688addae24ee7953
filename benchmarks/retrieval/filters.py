"""Time and recall of searches within some rows of an index: those of one tenant, or those whose answers are valid.

Run: python -m benchmarks.retrieval.filters tenants --dataset dataset --model encoder
     python -m benchmarks.retrieval.filters valid --index index

Tenants: each question of the dataset is given to one of four simulated tenants, drawn by the seed, with .1, .9, 9 and
90 % of the rows. The first query of a tenant makes the mask of its rows. Valid: of an index that is there, a share of
the rows is drawn by the seed, as if the answers of the others had ended. CPU times are the best of three rounds over
all queries, one at a time, in mode dense. Recall is that of the ten nearest of these rows, against a search of all.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import cpu_ms, measure_qpr
from model.index.consistency import live_count
from model.search.retrieval import Retrieval
from model.search.searcher import Searcher, open_searcher
from schemas.arrays import Int64s
from schemas.artifacts.dataset import open_dataset

SHARES = {"tiny": 0.001, "small": 0.009, "middle": 0.09, "large": 0.9}
VALID = (1, 0.999, 0.9, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001)
ROUNDS = 3
K = 10


Queries = Annotated[int, typer.Option("--queries", min=1, help="Number of queries.")]


def tenants(
    dataset: Annotated[str, typer.Option(help="Dataset with the questions.")],
    model: Annotated[str, typer.Option(help="Model that encodes them.")],
    queries: Queries = 500,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print time and recall of a search within each tenant."""
    rows = open_dataset(dataset).table("questions", columns=["text", "answer", "cluster_id", "events"])
    random = np.random.default_rng(seed)
    of_rows = pa.array(random.choice([*SHARES], size=len(rows), p=[*SHARES.values()]))
    asked = rows["text"].take(random.choice(len(rows), size=queries, replace=False)).to_pylist()
    asked = [f"please, {text}" for text in asked]  # no query is a question of the index
    report = Report(as_json=as_json, seed=seed, questions=len(rows), queries=queries)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        pq.write_table(rows.append_column("tenant", of_rows), f"{folder}/rows.parquet")
        given = ("--questions", f"{folder}/rows.parquet", "--model", model, "--output", f"{folder}/index")
        report.row(command="build", **measure_qpr("index", *given, "--vary-by", "tenant").cells())
        searcher, exact = (open_searcher(f"{folder}/index", mode="dense", exact=whole) for whole in (False, True))
        everything = searcher.retrieval
        all_ms = best_ms(everything, asked)
        report.row(tenant="all", rows=len(searcher), probes=searcher.index.probes, find_cpu_ms=all_ms)
        for tenant in SHARES:
            report.row(tenant=tenant, **within(searcher, exact, tenant, asked))


def valid(
    index: Annotated[str, typer.Option(help="Index to search.")],
    queries: Queries = 500,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print time and recall of a search of the rows whose answers are valid, by their share."""
    retrieval = open_searcher(index, mode="dense").retrieval
    whole, random = retrieval.index, np.random.default_rng(seed)
    drawn = whole.questions(whole.live_rows(random.choice(len(whole), size=queries, replace=False)))["text"]
    asked = [f"please, {text}" for text in drawn.to_pylist()]  # no query is a question of the index
    report = Report(as_json=as_json, seed=seed, questions=len(whole), queries=queries)
    for share in VALID:
        masks = [(random.random(len(shard)) < share) & (shard.live is None or shard.live) for shard in whole.shards]
        part = whole if share == 1 else whole.within(masks, ())
        exact, usual = (dataclasses.replace(part, probes=number) for number in (whole.most_probes, whole.probes))
        best = exact.rank(asked, K).ids
        report.row(
            valid=share,
            rows=sum(map(live_count, part.shards)),
            probes=part.probes,
            find_cpu_ms=best_ms(dataclasses.replace(retrieval, index=part), asked),
            recall_at_10=shared(part.rank(asked, K).ids, best),
            usual_cpu_ms=best_ms(dataclasses.replace(retrieval, index=usual), asked),
            usual_recall_at_10=shared(usual.rank(asked, K).ids, best),
        )


def shared(ids: Int64s, best: Int64s) -> float:
    """Return the share of the best ids (queries, k) that were found; -1 is none."""
    both = sum(len({*left} & {*right} - {-1}) for left, right in zip(ids.tolist(), best.tolist(), strict=True))
    return both / int(np.count_nonzero(best != -1))


def within(searcher: Searcher, exact: Searcher, tenant: str, asked: Sequence[str]) -> dict[str, Any]:
    """Return the figures of one tenant."""
    filters = {"tenant": tenant}
    before = time.perf_counter()
    searcher.search(asked[0], K, filters=filters)
    first_ms = 1000 * (time.perf_counter() - before)
    part = searcher.views.of(filters, searcher.clock())
    hits_of, best = (
        [{hit.question_id for hit in hits} for hits in opened.search_many(asked, K, filters=filters)]
        for opened in (searcher, exact)
    )
    recall = sum(len(left & right) for left, right in zip(hits_of, best, strict=True)) / max(1, sum(map(len, best)))
    return {
        "rows": sum(map(live_count, part.index.shards)),
        "probes": part.index.probes,
        "find_cpu_ms": best_ms(part, asked),
        "search_cpu_ms": best_of(lambda text: searcher.search(text, K, filters=filters), asked),
        "first_ms": first_ms,
        "recall_at_10": recall,
    }


def best_ms(retrieval: Retrieval, asked: Sequence[str]) -> float:
    """Return milliseconds of CPU to find the rows of a query."""
    return best_of(lambda text: retrieval.find(pa.array([text]), K, None), asked)


def best_of(search: Callable[[str], Any], asked: Sequence[str]) -> float:
    """Return milliseconds of CPU a query, the best of some rounds."""
    return min(cpu_ms(lambda: [search(text) for text in asked]) / len(asked) for _ in range(ROUNDS))


if __name__ == "__main__":
    run(tenants, valid)
