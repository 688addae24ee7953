"""Do learned encoders beat BM25? The same queries against the same questions, in one run.

Run: python -m benchmarks.retrieval --dataset DATASET --index INDEX [INDEX…] [--reranker RERANKER…] [--split test]
[--depth 100] [--limit N] [--write docs/results.md] [--picture docs/retrieval.png]

Each index is searched as it was built, and its vectors exactly by products of matrices, which takes a fraction of a
search in all lists and differs in ties of the seventh digit alone. A reranker orders the hits of the index it was
learned with. How many questions a CPU second encodes, a sample of them, or orders too, is told; the search is not in
it, but for BM25, which has nothing else.

BM25 is bm25s with its defaults on the words of the questions' keys, without stemming. A question never finds itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import bm25s
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.machine import describe_machine
from benchmarks.marks import write
from benchmarks.retrieval_table import HEADER, Figures, line, picture
from jobs.commands.evaluate import ranked_ids
from model.encoders.interface import Encoder, Matrix
from model.evaluation.metrics import CUT, per_pair, per_question, ranks
from model.evaluation.relevance import Judgements, judgements
from model.index.hits import Ranking
from model.index.index import Index
from model.reranking.saved_reranker import load_reranker
from model.search.opening import open_index
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.text_arrays import key_all, words_all

_RESAMPLED = 1_000
_TIMED = 262_144
"""Most questions encoded to see how fast it is: enough to be worth compiled loops."""

_FEW = 2_048
"""So many are enough of an encoder that takes longer than `_SLOW` CPU seconds for them."""

_SLOW = 2.0

_BLOCK = 16_384
"""Questions compared with all queries together."""


def bm25(dataset: Dataset, judged: Judgements, *, depth: int) -> tuple[npt.NDArray[np.int64], float]:
    """Return the ids BM25 finds for every query, its own left out, (queries, depth), and queries answered a CPU s."""
    questions = dataset.table("questions", columns=["question_id", "key"])
    ids = questions["question_id"].to_numpy()
    index = bm25s.BM25()
    index.index(words_all(questions["key"].combine_chunks()).to_pylist(), show_progress=False)
    started = time.process_time()
    queries = words_all(key_all(judged.texts)).to_pylist()
    rows, _ = index.retrieve(queries, k=depth + 1, show_progress=False)
    speed = len(judged) / (time.process_time() - started)
    found = ids[rows]
    own = found == judged.ids[:, None]
    own[~own.any(axis=1), -1] = True  # where the query itself was not found, the last place goes
    return np.asarray(found[~own].reshape(len(judged), depth), np.int64), speed


def exact(encoder: Encoder, questions: pa.Table, judged: Judgements, *, depth: int) -> npt.NDArray[np.int64]:
    """Return the ids every query finds among questions, its own left out."""
    ids = questions["question_id"].to_numpy()
    queries = encoder.encode(judged.texts)
    rows, _ = nearest(encoder.encode(questions["text"]), ids, queries, judged, depth=depth)
    return np.asarray(ids[rows], np.int64)


def nearest(
    vectors: Matrix, ids: npt.NDArray[np.int64], queries: Matrix, judged: Judgements, *, depth: int
) -> tuple[npt.NDArray[np.int64], Matrix]:
    """Return the rows of the vectors nearest to every query, its own left out, and their squared distances.

    Of equally near ones the smaller id comes first, save for those that the first block leaves out.
    """
    best = np.full((len(queries), 0), np.inf, np.float32)
    found = np.full((len(queries), 0), -1, np.int64)
    own = np.einsum("nd,nd->n", queries, queries)[:, None]
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        distances = own + np.einsum("nd,nd->n", block, block) - 2 * queries @ block.T
        distances[judged.ids[:, None] == ids[start : start + _BLOCK]] = np.inf
        row, column = _near(distances, best, depth=depth)
        every = np.repeat(np.arange(len(queries)), best.shape[1])
        rows, near = np.concatenate([every, row]), np.concatenate([best.ravel(), distances[row, column]])
        places = np.concatenate([found.ravel(), start + column])
        order = np.lexsort((ids[places], near, rows))
        counts = np.bincount(rows, minlength=len(queries))
        first = order[(np.cumsum(counts) - counts)[:, None] + np.arange(min(depth, counts.min()))]
        best, found = near[first], places[first]
    return found, best


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


def figures(found: npt.NDArray[np.int64], judged: Judgements) -> Figures:
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


def stored(index: Index) -> Matrix:
    """Return the vectors of an index in the order of its rows."""
    parts = []
    for shard in index.shards:
        if shard.lists:
            shard.faiss.make_direct_map()
        parts.append(shard.faiss.reconstruct_n(0, len(shard)))
    return np.concatenate(parts)


@dataclasses.dataclass(frozen=True)
class Remembering(Encoder):
    """An encoder that encodes no text twice, so that a slow one orders the hits of two searches in the time of one."""

    encoder: Encoder
    known: dict[str, Matrix] = dataclasses.field(default_factory=dict)

    @property
    def dimension(self) -> int:
        """Return how many numbers a question's vector has."""
        return self.encoder.dimension

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key."""
        return self.encode(keys)

    def encode(self, texts: pa.Array | pa.ChunkedArray | Sequence[str], *, threads: int = 1) -> Matrix:
        """Return one vector a text, (len(texts), dimension)."""
        listed = pa.array(texts, pa.string()).to_pylist()
        new = [text for text in dict.fromkeys(listed) if text not in self.known]
        self.known.update(zip(new, self.encoder.encode(new, threads=threads), strict=True))
        return np.stack([self.known[text] for text in listed])


def measured(found: npt.NDArray[np.int64], judged: Judgements, *, speed: float | None) -> Figures:
    """Return all figures of a system whose ids are ranked."""
    return {**figures(found, judged), "half_widths": half_width(found, judged), "questions_per_cpu_s": speed}


def of_index(url: str, rerankers: Sequence[str], judged: Judgements, *, depth: int) -> Iterator[tuple[str, Figures]]:
    """Yield the name and the figures of every system that an index and its rerankers make."""
    index = open_index(url)
    name = url.rstrip("/").rsplit("/", 1)[-1]
    lists = f"{index.settings.factory}, {index.probes} probes"
    yield f"{name}, {lists}", measured(ranked_ids(index, judged, depth=depth), judged, speed=None)
    ids, texts = np.concatenate(index.question_ids), index.questions(np.arange(len(index)))["text"]
    encoded = cost_of_encoding(index.encoder, texts)
    rows, distances = nearest(stored(index), ids, index.encoder.encode(judged.texts), judged, depth=depth)
    yield f"{name}, exact search", measured(ids[rows], judged, speed=1 / encoded)
    exactly = Ranking(ids[rows], -distances, rows)
    for reranker in rerankers:
        if read_manifest(reranker, "reranker").configuration["model_digest"] != index.settings.model_digest:
            continue
        ordering = load_reranker(reranker, model_digest=index.settings.model_digest)
        ordering = dataclasses.replace(
            ordering, encoders=tuple(Remembering(encoder.digest, encoder) for encoder in ordering.encoders)
        )
        both = dataclasses.replace(index, reranker=ordering)
        title = f"{name}, {reranker.rstrip('/').rsplit('/', 1)[-1]}"
        started = time.process_time()
        hits = ordering.reordered(index, judged.texts, exactly, depth)
        ordered = (time.process_time() - started) / len(judged)
        yield f"{title}, exact search", measured(hits.ids, judged, speed=1 / (encoded + ordered))
        yield f"{title}, {lists}", measured(ranked_ids(both, judged, depth=depth), judged, speed=None)


def cost_of_encoding(encoder: Encoder, texts: pa.ChunkedArray) -> float:
    """Return the CPU seconds of a question."""
    cost = 0.0
    for most in (_FEW, _TIMED):
        started, some = time.process_time(), texts.slice(0, most)
        encoder.encode(some)
        taken = time.process_time() - started
        cost = taken / len(some)
        if taken > _SLOW:
            break
    return cost


def systems(
    dataset: Dataset, judged: Judgements, urls: Sequence[str], rerankers: Sequence[str], *, depth: int
) -> Iterator[tuple[str, Figures]]:
    """Yield the name and the figures of every system, BM25 last; its speed is that of its search."""
    for url in urls:
        yield from of_index(url, rerankers, judged, depth=depth)
    found, speed = bm25(dataset, judged, depth=depth)
    yield "BM25", measured(found, judged, speed=speed)


def main() -> None:
    """Measure each system, print a table, write it and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--index", required=True, nargs="+")
    parser.add_argument("--reranker", nargs="*", default=[])
    parser.add_argument("--split", default="test")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--write", type=Path, help="file with the marks <!-- retrieval --> and <!-- end -->")
    parser.add_argument("--picture", type=Path, help="PNG to draw")
    options = parser.parse_args()
    dataset = open_dataset(options.dataset)
    clusters = dataset.table("clusters", columns=["question_ids", "texts"], split=options.split)
    judged = judgements(clusters, limit=options.limit)
    about = f"{describe_machine()}; {len(judged):,} {options.split} queries, cut at rank {options.depth}; seed 0."
    print(about, HEADER, sep="\n\n", flush=True)
    found: dict[str, Figures] = {}
    for name, result in systems(dataset, judged, options.index, options.reranker, depth=options.depth):
        found[name] = result
        print(line(name, result), flush=True)
    if options.write:
        table = "\n".join([about, "", HEADER, *(line(name, result) for name, result in found.items())])
        write(options.write, table, mark="retrieval")
    if options.picture:
        options.picture.write_bytes(picture(found))


if __name__ == "__main__":
    main()
