"""Retrieval of indexes and rerankers, beside BM25: the same queries and questions in one run.

Run: python -m benchmarks.retrieval.systems --dataset quora --index index --reranker reranker --limit 500

Each index is searched as it was built, and its vectors exactly by products of matrices, which takes a fraction of a
search in all lists and differs in ties of the seventh digit alone. A reranker orders the hits of the index it was
learned with. Speed is the number of questions that a CPU second encodes, or encodes and orders; the search is excluded,
except for BM25, which has nothing else. BM25 is bm25s with its defaults on the words of the questions' keys, without
stemming. A question never finds itself. Intervals are half of the 95 % interval by bootstrap samples of the clusters.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import bm25s
import numpy as np
import pyarrow as pa
import typer

from benchmarks.cli import AsJson, Page, Pairs, Report, run
from benchmarks.retrieval.exact_search import nearest
from benchmarks.retrieval.figures import METRICS, Figures, measured, spelled
from model.encoders.interface import Encoder
from model.evaluation.evaluator import ranked_ids
from model.evaluation.relevance import Judgements, judgements
from model.index.index import Index
from model.index.ranking import Ranking
from model.reranking.saved_reranker import load_reranker
from model.search.opening import open_index
from model.search.retrieval import Retrieval
from model.search.searcher import Searcher
from model.training.learning_curve import png_of
from schemas.arrays import Int64s, Matrix
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.text_arrays import key_all, words_all

_TIMED = 262_144
"""Questions encoded to measure speed: enough to be worth compiled loops."""

_FEW = 2_048
"""Questions that are enough of an encoder that takes longer than `_SLOW` CPU seconds for them."""

_SLOW = 2.0


def bm25(dataset: Dataset, judged: Judgements, *, depth: int) -> tuple[Int64s, float]:
    """Return BM25's ids for every query without its own, (queries, depth), and the number of queries a CPU second."""
    questions = dataset.table("questions", columns=["question_id", "key"])
    ids = questions["question_id"].to_numpy()
    index = bm25s.BM25()
    index.index(words_all(questions["key"].combine_chunks()).to_pylist(), show_progress=False)
    started = time.process_time()
    queries = words_all(key_all(judged.texts)).to_pylist()
    rows, _ = index.retrieve(queries, k=depth + 1, show_progress=False)
    speed = len(judged) / (time.process_time() - started)
    hits = ids[rows]
    own = hits == judged.ids[:, None]
    own[~own.any(axis=1), -1] = True  # without the query itself among the hits, the last one is dropped
    return np.asarray(hits[~own].reshape(len(judged), depth), np.int64), speed


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
    """Encoder that encodes no text twice, so that a slow one orders the hits of two searches in the time of one."""

    encoder: Encoder
    vectors: dict[str, Matrix] = dataclasses.field(default_factory=dict)

    @property
    def dimension(self) -> int:
        """Return the number of dimensions of a vector."""
        return self.encoder.dimension

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key."""
        return self.encode(keys)

    def encode(self, texts: pa.Array | pa.ChunkedArray | Sequence[str], *, threads: int = 1) -> Matrix:
        """Return one vector a text, (len(texts), dimension)."""
        listed = pa.array(texts, pa.string()).to_pylist()
        new = [text for text in dict.fromkeys(listed) if text not in self.vectors]
        self.vectors.update(zip(new, self.encoder.encode(new, threads=threads), strict=True))
        return np.stack([self.vectors[text] for text in listed])


def of_index(url: str, rerankers: Sequence[str], judged: Judgements, *, depth: int) -> Iterator[tuple[str, Figures]]:
    """Yield the name and the figures of every system that an index and its rerankers make."""
    index = open_index(url)
    name = url.rstrip("/").rsplit("/", 1)[-1]
    lists = f"{index.settings.factory}, {index.probes} probes"
    yield f"{name}, {lists}", measured(ranked_ids(Searcher(Retrieval(index)), judged, depth=depth), judged, speed=None)
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
        both = Searcher(Retrieval(index, "rerank", reranker=ordering))
        title = f"{name}, {reranker.rstrip('/').rsplit('/', 1)[-1]}"
        started = time.process_time()
        hits = ordering.reordered(index, judged.texts, exactly, depth)
        ordered = (time.process_time() - started) / len(judged)
        yield f"{title}, exact search", measured(hits.ids, judged, speed=1 / (encoded + ordered))
        yield f"{title}, {lists}", measured(ranked_ids(both, judged, depth=depth), judged, speed=None)


def cost_of_encoding(encoder: Encoder, texts: pa.ChunkedArray) -> float:
    """Return the CPU seconds of a question."""
    cost = 0.0
    for count in (_FEW, _TIMED):
        started, some = time.process_time(), texts.slice(0, count)
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
    ranked, speed = bm25(dataset, judged, depth=depth)
    yield "BM25", measured(ranked, judged, speed=speed)


def cells(name: str, figures: Figures) -> dict[str, object]:
    """Return a row: per question with half of the 95 % interval, per pair, speed."""
    metrics = [
        f"{spelled(figures['per_question'][metric])} ({spelled(width, 3)})"
        for metric, width in zip(METRICS, figures["half_widths"], strict=True)
    ]
    pairs = " / ".join(spelled(figures["per_pair"][metric]) for metric in METRICS)
    speed = figures["questions_per_cpu_s"]
    rounded = None if speed is None else int(float(f"{speed:.3g}"))
    return {
        "system": name,
        **dict(zip(("H@1", "H@10", "MRR"), metrics, strict=True)),
        "H@1 / H@10 / MRR per pair": pairs,
        "questions_a_cpu_s": rounded,
    }


def picture(figures_of: Mapping[str, Figures]) -> bytes:
    """Return a PNG of MRR against questions a CPU second, without systems that have no speed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    timed = [(figures["questions_per_cpu_s"], name, figures) for name, figures in figures_of.items()]
    shown = sorted((speed, name, figures) for speed, name, figures in timed if speed is not None)
    for number, (speed, name, figures) in enumerate(shown):
        mrr, left = figures["per_question"]["mrr"], number % 2 == 0  # alternate, so that labels do not overlap
        axes.errorbar(speed, mrr, yerr=figures["half_widths"][2], fmt="o", capsize=3)
        label, side = name.removesuffix(", exact search"), "right" if left else "left"
        place, level = (-7 if left else 7, 0), "center_baseline"  # higher ones would touch other bars
        axes.annotate(label, (speed, mrr), place, textcoords="offset points", fontsize=8, ha=side, va=level)
    axes.set(xscale="log", xlabel="questions a CPU second (one core)", ylabel="MRR, exact search")
    axes.margins(x=0.35, y=0.15)
    axes.grid(alpha=0.3)
    return png_of(figure)


def main(
    dataset: Pairs,
    index: Annotated[list[str], typer.Option(help="Index of that dataset; repeatable.")],
    reranker: Annotated[list[str], typer.Option(help="Reranker of one of the indexes; repeatable.")] = [],
    split: Annotated[str, typer.Option(help="Split with the queries.")] = "test",
    depth: Annotated[int, typer.Option(help="Ranks that count.")] = 100,
    limit: Annotated[int | None, typer.Option(help="Maximum number of queries; all by default.")] = None,
    write: Page = None,
    picture_file: Annotated[Path | None, typer.Option("--picture", help="PNG to draw.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure each system."""
    opened = open_dataset(dataset)
    judged = judgements(opened.cluster_texts(split), limit=limit)
    report = Report(as_json=as_json, seed=0, split=split, queries=len(judged), depth=depth)
    figures: dict[str, Figures] = {}
    for name, result in systems(opened, judged, index, reranker, depth=depth):
        figures[name] = result
        report.row(**({"system": name} | result if as_json else cells(name, result)))
    report.write(write, mark="retrieval")
    if picture_file:
        picture_file.write_bytes(picture(figures))


if __name__ == "__main__":
    run(main)
