"""Recall of an index against exact search, and the probes of a search for a target.

index -> sample_of -> Sample -> tuned -> Tuned; no clock decides, so that the same questions give the same probes
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from faiss import rev_swig_ptr
from threadpoolctl import threadpool_limits

from model.index.factory import is_graph
from model.index.index import Index
from model.index.refinement import FEWEST_CANDIDATES
from model.index.settings import RecallFigures
from model.index.shards import Shard
from model.index.sizing.search_cost import median_compared, search_ms
from schemas.arrays import Float64s, Int64s, Matrix

QUERIES: Final = 1_000
DEPTH: Final = 10
"""Questions that are searched for, and neighbours of each: a recall of .98 has a standard error of .0015."""

_ROWS: Final = 4_096
"""Vectors compared at a time: 16 MB of distances from `QUERIES`."""

_TOLERANCE: Final = 4e-6
"""Difference of two distances that count as equal, as a share of a query's squared distance from the sample's mean:
they are differences of products of 32 bits."""

_SAME: Final = 0.002
"""Difference of recall that is no reason to search more lists."""


class Sample(NamedTuple):
    """Questions of an index, or new wordings of them, and how far their nearest questions are.

    Attributes:
        ids: (n,) of questions that count in neither ranking: the queries themselves, -1 for a new wording.
        vectors: (n, dimension).
        bounds: (n,) squared distance of the last of the `DEPTH` nearest, or of all where there are fewer.
        depth: number of the nearest.
    """

    ids: Int64s
    vectors: Matrix
    bounds: Float64s
    depth: int


class Tuned(NamedTuple):
    """Probes of a search.

    Attributes:
        probes: their number.
        figures: recall with them.
        capped: more would exceed the latency.
    """

    probes: int
    figures: RecallFigures
    capped: bool


def tuned(index: Index, *, recall: float, latency_ms: float, probes: int | None) -> Tuned:
    """Return the fewest probes that find the target share of the nearest questions, within a latency.

    Recall counts the `DEPTH` nearest others of `QUERIES` questions of the index. That of new wordings is measured with
    the chosen probes, and is less for a graph, whose links lead from a question to its neighbours: of 80,000 of Quora's
    questions a graph found .985 for its own, .965 for others and .969 for such wordings. Time is computed from the
    number of vectors that are compared. If none reach the recall, since codes are inexact or the latency is too short,
    they are the fewest with nearly the best one.

    Args:
        index: with a graph or inverted lists, and at least two questions.
        recall: the target share.
        latency_ms: maximum median milliseconds of a query's search.
        probes: that were given; they are only measured.
    """
    chosen = _tuned(index, recall, latency_ms, probes)
    reworded = round(recall_of(index, sample_of(index, reworded=True), chosen.probes), 4)
    return chosen._replace(figures=chosen.figures.model_copy(update={"reworded_at_10": reworded}))


def _tuned(index: Index, recall: float, latency_ms: float, probes: int | None) -> Tuned:
    sample = sample_of(index)
    if probes is not None:
        compared = median_compared(index, sample.vectors, probes)
        return Tuned(probes, _figures(index, sample, probes, compared, target=None), capped=False)
    measured: list[tuple[int, RecallFigures]] = []
    capped = False
    for number in _candidates(index):
        compared = median_compared(index, sample.vectors, number)
        if measured and search_ms(index, compared) > latency_ms:
            capped = True
            break
        measured.append((number, _figures(index, sample, number, compared, target=recall)))
        if measured[-1][1].at_10 >= recall:
            return Tuned(*measured[-1], capped=False)
    best = max(figures.at_10 for _, figures in measured)
    return Tuned(*next(of for of in measured if of[1].at_10 >= best - _SAME), capped=capped)


def sample_of(index: Index, *, reworded: bool = False) -> Sample:
    """Return a sample of the questions of an index, compared with all of them by their exact vectors.

    The questions have the smallest ids as unsigned numbers: a uniform sample, since ids are hashes.

    Args:
        index: with at least two questions.
        reworded: search for `new_wordings` of the questions.
    """
    ids = np.concatenate(index.question_ids)
    order = ids.view(np.uint64)
    chosen = np.argpartition(order, min(QUERIES, len(ids)) - 1)[:QUERIES]
    chosen = chosen[np.argsort(order[chosen])]
    depth = min(DEPTH, len(ids) - 1)
    texts, own = index.questions(chosen)["text"].to_pylist(), ids[chosen]
    if reworded:
        texts, own = new_wordings(texts, order[chosen].tolist()), np.full_like(own, -1)
    vectors = index.encoder.encode(texts)
    with threadpool_limits(1, user_api="blas"):  # several threads round by how they divide a product
        return Sample(own, vectors, _bounds(index, own, vectors, depth), depth)


def new_wordings(texts: Sequence[str], numbers: Sequence[int]) -> list[str]:
    """Return each question without two of its words and with one of the next question.

    Where one has under three words, such as in Japanese, they are characters.

    Args:
        texts: the questions.
        numbers: a random one for each, 0 or more; they decide which words are left out and added.
    """
    return [
        _new_wording(text, other, number)
        for text, other, number in zip(texts, [*texts[1:], *texts[:1]], numbers, strict=True)
    ]


def _new_wording(text: str, other: str, number: int) -> str:
    cut, space = (str.split, " ") if min(len(text.split()), len(other.split())) > 2 else (list, "")
    units, others = cut(text), cut(other)
    for _ in range(2):
        number, place = divmod(number, max(len(units), 1))
        if len(units) > 1:
            del units[place]
    return space.join([*units, others[number % len(others)]])


def recall_of(index: Index, sample: Sample, probes: int) -> float:
    """Return the share of the nearest questions of a sample that a search with ``probes`` finds."""
    searched = dataclasses.replace(index, probes=probes)
    ranking = searched.rank_vectors(sample.vectors, sample.depth, exclude=sample.ids)
    is_hit = ranking.rows >= 0
    distances = -ranking.scores.astype(np.float64)
    if any(shard.layout.encoding != "Flat" for shard in index.shards):
        rows, place = np.unique(ranking.rows[is_hit], return_inverse=True)
        exact = index.encoder.encode(index.questions(rows)["text"])[place]
        queries = np.repeat(sample.vectors, is_hit.sum(axis=1), axis=0)
        distances[is_hit] = ((exact.astype(np.float64) - queries) ** 2).sum(axis=1)
    spread = sample.vectors - sample.vectors.mean(axis=0)
    slack = _TOLERANCE * (spread.astype(np.float64) ** 2).sum(axis=1)
    return float((is_hit & (distances <= (sample.bounds + slack)[:, None])).mean())


def _candidates(index: Index) -> list[int]:
    """Return probes to try, each about a fifth more than those before; of a graph no fewer than are compared again."""
    highest, lowest = index.most_probes, FEWEST_CANDIDATES if is_graph(index.settings.factory) else 1
    numbers = (min(highest, round(2 ** (quarter / 4))) for quarter in range(4 * highest.bit_length() + 1))
    return sorted({number for number in numbers if number >= lowest})


def _figures(index: Index, sample: Sample, probes: int, compared: int, *, target: float | None) -> RecallFigures:
    return RecallFigures(
        queries=len(sample.ids),
        at_10=round(recall_of(index, sample, probes), 4),
        target=target,
        compared=compared,
    )


def _bounds(index: Index, ids: Int64s, vectors: Matrix, depth: int) -> Float64s:
    """Return the squared distance of the ``depth``-th nearest other question of each query."""
    count = len(ids)
    nearest = np.full((count, depth), np.inf, np.float32)
    mean = vectors.mean(axis=0)  # without it, small distances of long vectors would be lost in rounding
    vectors = vectors - mean
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    by_id = np.argsort(ids)
    for block_ids, uncentred in _blocks(index):
        block = uncentred - mean
        distances = vectors @ block.T
        distances *= -2
        distances += lengths[:, None]
        distances += np.einsum("ij,ij->i", block, block)
        place = by_id[np.minimum(np.searchsorted(ids, block_ids, sorter=by_id), count - 1)]
        own = ids[place] == block_ids
        distances[place[own], np.flatnonzero(own)] = np.inf
        near = distances < nearest[:, -1:]
        if near.sum() > _ROWS * 8:  # the first blocks
            nearest = np.partition(np.hstack([nearest, distances]), depth - 1, axis=1)[:, :depth]
            nearest.sort(axis=1)
            continue
        queries, columns = np.nonzero(near)
        rows = np.concatenate([np.repeat(np.arange(count), depth), queries])
        values = np.concatenate([nearest.ravel(), distances[queries, columns]])
        order = np.lexsort((values, rows))
        starts = np.searchsorted(rows[order], np.arange(count))
        nearest = values[order][starts[:, None] + np.arange(depth)]
    return np.maximum(nearest[:, -1], 0).astype(np.float64)


def _blocks(index: Index) -> Iterator[tuple[Int64s, Matrix]]:
    """Yield ids and exact vectors of all questions: those of the shards, or encoded again where shards hold codes."""
    start = 0
    for shard, ids in zip(index.shards, index.question_ids, strict=True):
        if shard.layout.encoding == "Flat":
            for rows, vectors in _stored(shard):
                for first in range(0, len(vectors), _ROWS):
                    yield ids[rows[first : first + _ROWS]], vectors[first : first + _ROWS]
        else:
            for first in range(0, len(ids), _ROWS):
                part = ids[first : first + _ROWS]
                texts = index.questions(np.arange(start + first, start + first + len(part)))["text"]
                yield part, index.encoder.encode(texts)
        start += len(ids)


def _stored(shard: Shard) -> Iterator[tuple[Int64s, Matrix]]:
    """Yield rows and vectors of a shard without codes, list by list in batches."""
    if not shard.lists:
        yield np.arange(len(shard)), shard.vectors
        return
    dimension, lists, held = shard.layout.dimension, shard.faiss.invlists, []
    for number in range(shard.lists):
        if size := lists.list_size(number):
            codes: Any = rev_swig_ptr(lists.get_codes(number), size * 4 * dimension)
            rows: Any = rev_swig_ptr(lists.get_ids(number), size)
            held.append((rows.copy(), codes.view(np.float32).reshape(size, dimension)))
        if held and (number == shard.lists - 1 or sum(len(rows) for rows, _ in held) >= _ROWS):
            yield np.concatenate([rows for rows, _ in held]), np.concatenate([vectors for _, vectors in held])
            held = []
