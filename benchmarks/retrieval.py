"""Do learned encoders beat BM25? The same queries against the same questions, in one run.

Run: python -m benchmarks.retrieval --dataset DATASET --index INDEX [INDEX…] [--split test] [--depth 100] [--limit N]

Each index is searched as it was built and exactly, and says how fast its model encodes, on the threads there are.

BM25 is bm25s with its defaults on the words of the questions' keys, without stemming. A question never finds itself.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Any

import bm25s
import numpy as np
import numpy.typing as npt

from benchmarks.machine import describe_machine
from jobs.evaluate import measure
from model.index import Index, open_index
from model.judgements import Judgements, judgements
from model.metrics import per_pair, per_question, ranks
from schemas.columns import key_all, words_all
from schemas.dataset import Dataset, open_dataset


def bm25(dataset: Dataset, judged: Judgements, *, depth: int) -> npt.NDArray[np.int64]:
    """Return the ids BM25 finds for every query, its own left out: (queries, depth)."""
    questions = dataset.table("questions", columns=["question_id", "key"])
    ids = questions["question_id"].to_numpy()
    index = bm25s.BM25()
    index.index(words_all(questions["key"].combine_chunks()).to_pylist(), show_progress=False)
    queries = words_all(key_all(judged.texts)).to_pylist()
    rows, _ = index.retrieve(queries, k=depth + 1, show_progress=False)
    found = ids[rows]
    own = found == judged.ids[:, None]
    own[~own.any(axis=1), -1] = True  # where the query itself was not found, the last place goes
    return np.asarray(found[~own].reshape(len(judged), depth), np.int64)


def questions_a_second(index: Index, dataset: Dataset, *, most: int = 100_000) -> float:
    """Return how many question texts an index's model encodes a CPU second, of all threads together."""
    texts = dataset.table("questions", columns=["text"])["text"].slice(0, most)
    index.encoder.encode(texts.slice(0, 100))
    started = time.process_time()
    index.encoder.encode(texts)
    return len(texts) / (time.process_time() - started)


def row(name: str, result: dict[str, Any]) -> str:
    """Return one line of the table."""
    figures = [
        result[kind][metric] for kind in ("per_question", "per_pair") for metric in ("hits_at_1", "hits_at_10", "mrr")
    ]
    return f"{name:46}" + "".join(f"{figure:9.4f}" for figure in figures)


def main() -> None:
    """Measure each system and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--index", required=True, nargs="+")
    parser.add_argument("--split", default="test")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    dataset = open_dataset(options.dataset)
    clusters = dataset.table("clusters", columns=["question_ids", "texts"], split=options.split)
    judged = judgements(clusters, limit=options.limit)
    print(describe_machine(), f"{len(judged):,} {options.split} queries, cut at rank {options.depth}", sep="; ")
    header = ("H@1", "H@10", "MRR", "H@1/pair", "H@10/p.", "MRR/pair")
    print(f"{'system':46}" + "".join(f"{name:>9}" for name in header))
    for url, exact in itertools.product(options.index, (False, True)):
        index = open_index(url, exact=exact)
        search = "exact search" if exact else f"{index.settings.factory}, {index.probes} probes"
        name = f"{url.rstrip('/').rsplit('/', 1)[-1]}, {search}"
        print(row(name, measure(index, judged, depth=options.depth)), flush=True)
        if exact:
            print(f"  {questions_a_second(index, dataset):,.0f} questions encoded a second of CPU", flush=True)
    started = time.perf_counter()
    found = ranks(bm25(dataset, judged, depth=options.depth), queries=judged.queries, relevant=judged.relevant)
    result = {
        "per_question": vars(per_question(found, queries=judged.queries, count=len(judged))),
        "per_pair": vars(per_pair(found, queries=judged.queries)),
    }
    print(row("BM25", result))
    print(f"BM25 took {time.perf_counter() - started:.0f} s for indexing and all queries")


if __name__ == "__main__":
    main()
