"""Do learned encoders beat BM25? The same queries against the same questions, in one run.

Run: python -m benchmarks.retrieval --dataset DATASET --index INDEX [INDEX…] [--split test] [--depth 100] [--limit N]

Each index is searched as it was built, and its questions exactly by products of matrices, which takes a fraction of a
search in all lists and differs in ties of the seventh digit alone. How fast its model encodes is told too.

BM25 is bm25s with its defaults on the words of the questions' keys, without stemming. A question never finds itself.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import bm25s
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.machine import describe_machine
from jobs.evaluate import ranked_ids
from model.encoding import Encoder
from model.index import open_index
from model.judgements import Judgements, judgements
from model.metrics import CUT, per_pair, per_question, ranks
from schemas.columns import key_all, words_all
from schemas.dataset import Dataset, open_dataset

_RESAMPLED = 1_000
_BLOCK = 16_384
"""Questions compared with all queries together."""


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


def exact(
    encoder: Encoder, questions: pa.Table, judged: Judgements, *, depth: int
) -> tuple[npt.NDArray[np.int64], float]:
    """Return the ids every query finds among questions, its own left out, and texts encoded a CPU s.

    Of equally near ones the smaller id comes first, save for those that the first block leaves out.
    """
    started = time.process_time()
    vectors = encoder.encode(questions["text"])
    speed = len(vectors) / (time.process_time() - started)
    queries, ids = encoder.encode(judged.texts), questions["question_id"].to_numpy()
    best = np.full((len(queries), 0), np.inf, np.float32)
    found = np.full((len(queries), 0), -1, np.int64)
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        distances = np.einsum("nd,nd->n", block, block) - 2 * queries @ block.T  # less the query's own square
        distances[judged.ids[:, None] == ids[start : start + _BLOCK]] = np.inf
        row, column = _near(distances, best, depth=depth)
        every = np.repeat(np.arange(len(queries)), best.shape[1])
        rows, near = np.concatenate([every, row]), np.concatenate([best.ravel(), distances[row, column]])
        named = np.concatenate([found.ravel(), ids[start + column]])
        order = np.lexsort((named, near, rows))
        counts = np.bincount(rows, minlength=len(queries))
        first = order[(np.cumsum(counts) - counts)[:, None] + np.arange(min(depth, counts.min()))]
        best, found = near[first], named[first]
    return found, speed


def _near(
    distances: npt.NDArray[np.float32], best: npt.NDArray[np.float32], *, depth: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return rows and columns of distances that may be among the smallest; few, once there are enough to compare with.

    A block takes 1.0 CPU s to be partitioned and 0.1 to be compared with the last of the best.
    """
    if best.shape[1] == depth:
        rows, near = np.nonzero(distances <= best[:, -1:])
        return rows, near
    kept = min(depth, distances.shape[1])
    columns = np.argpartition(distances, kept - 1, axis=1)[:, :kept]
    return np.repeat(np.arange(len(distances)), kept), columns.ravel()


def figures(found: npt.NDArray[np.int64], judged: Judgements) -> dict[str, Any]:
    """Return the metrics of ranked ids."""
    places = ranks(found, queries=judged.queries, relevant=judged.relevant)
    return {
        "per_question": vars(per_question(places, queries=judged.queries, count=len(judged))),
        "per_pair": vars(per_pair(places, queries=judged.queries)),
    }


def half_width(found: npt.NDArray[np.int64], judged: Judgements, *, seed: int = 0) -> list[float]:
    """Return half of the 95 % bootstrap interval of H@1, H@10 and MRR per question, queries drawn again and again."""
    places = ranks(found, queries=judged.queries, relevant=judged.relevant)
    first = np.full(len(judged), np.inf)
    np.minimum.at(first, judged.queries, np.where(places > 0, places, np.inf))
    values = np.column_stack([first <= 1, first <= CUT, 1 / first])
    random = np.random.default_rng(seed)
    means = [values[random.integers(len(judged), size=len(judged))].mean(axis=0) for _ in range(_RESAMPLED)]
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return [float(width) for width in (high - low) / 2]


def row(name: str, result: dict[str, Any], widths: list[float]) -> str:
    """Return one line of the table."""
    shown = [
        result[kind][metric] for kind in ("per_question", "per_pair") for metric in ("hits_at_1", "hits_at_10", "mrr")
    ]
    figures = "".join(f"{figure:9.4f}" for figure in shown)
    return f"{name:46}{figures}   +-" + "".join(f"{width:7.4f}" for width in widths)


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
    print(f"{'system':46}{''.join(f'{name:>9}' for name in header)}   half of the 95 % interval of the first three")
    for url in options.index:
        index = open_index(url)
        name = url.rstrip("/").rsplit("/", 1)[-1]
        lists = f"{name}, {index.settings.factory}, {index.probes} probes"
        listed = ranked_ids(index, judged, depth=options.depth)
        print(row(lists, figures(listed, judged), half_width(listed, judged)), flush=True)
        questions = index.questions(np.arange(len(index)))
        found, encoded = exact(index.encoder, questions, judged, depth=options.depth)
        line = row(f"{name}, exact search", figures(found, judged), half_width(found, judged))
        print(line, f"{encoded:9,.0f} questions/s of CPU", flush=True)
    started = time.perf_counter()
    found = bm25(dataset, judged, depth=options.depth)
    print(row("BM25", figures(found, judged), half_width(found, judged)))
    print(f"BM25 took {time.perf_counter() - started:.0f} s for indexing and all queries")


if __name__ == "__main__":
    main()
