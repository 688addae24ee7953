"""Ways to find the questions that match a query: exact, dense, bm25, fusion, probability, rerank.

texts -> Retrieval.find -> Found: a ranking, and the ranks of its questions by vectors and by BM25
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from model.choices import Mode
from model.confidence.features import NEIGHBOURS
from model.index.index import Index
from model.index.lexical import Lexical
from model.index.ranking import Ranking, no_hits, places
from model.search.found import Found
from schemas.arrays import Int64s, Matrix
from schemas.errors import UsageError

if TYPE_CHECKING:
    from model.confidence.confidence import Confidence
    from model.reranking.reranker import Reranker

FUSED: Final = 20
"""Hits of each kind that are fused, however many are returned, so that the first hits do not depend on their number: 50
and 100 changed no metric on Quora's validation by more than .0002."""


@dataclasses.dataclass(frozen=True)
class Retrieval:
    """A way to search an index.

    Attributes:
        index: the opened index.
        mode: the way.
        lexical: BM25, for modes bm25 and fusion, and for probability where the index has it.
        lexical_weight: of the reciprocal rank by BM25 in mode fusion.
        reranker: for mode rerank.
        confidence: for mode probability.
    """

    index: Index
    mode: Mode = "dense"
    lexical: Lexical | None = dataclasses.field(default=None, repr=False)
    lexical_weight: float = 1.0
    reranker: Reranker | None = dataclasses.field(default=None, repr=False)
    confidence: Confidence | None = dataclasses.field(default=None, repr=False)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Return the ways of searching that need nothing that is not opened, its own first."""
        able: dict[Mode, bool] = {
            "dense": True,
            "bm25": self.lexical is not None,
            "fusion": self.lexical is not None,
            "probability": self.lexical is not None and self.confidence is not None,
            "rerank": self.reranker is not None,
            "exact": True,
        }
        return (self.mode, *(mode for mode, is_able in able.items() if is_able and mode != self.mode))

    def in_mode(self, mode: Mode | None) -> Retrieval:
        """Return the same index with another way of searching; None is its own.

        Raises:
            UsageError: the way is not one of `modes`.
        """
        if mode is None or mode == self.mode:
            return self
        if mode not in self.modes:
            raise UsageError(f"mode {mode}: is not one of {', '.join(self.modes)}. Open the searcher with it")
        return dataclasses.replace(self, mode=mode)

    def find(self, asked: pa.Array | Sequence[str], k: int, exclude: Int64s | None, *, neighbours: int = 0) -> Found:
        """Return the k best questions of each text; the question whose key equals that of the text is the first.

        Args:
            asked: the texts.
            k: maximum number of hits of each.
            exclude: for each text one question id to leave out.
            neighbours: minimum nearest questions to find, also for ways that need none.

        Raises:
            UsageError: k is under 1.
        """
        if k < 1:
            raise UsageError(f"k must be at least 1, got {k}")
        texts = asked.to_pylist() if isinstance(asked, pa.Array) else asked
        if self.mode == "probability":
            return self._by_probability(texts, k, exclude)
        least = min(neighbours, len(self.index))
        dense = lexical = nothing = no_hits(len(texts), 0)
        compares_vectors = self.mode != "exact" and (self.mode != "bm25" or least > 0)
        vectors = self.index.encoder.encode(asked) if compares_vectors else None
        if self.mode == "dense":
            ranking = dense = self._by_vectors(asked, max(k, least), exclude, vectors, FUSED)
        elif self.mode == "bm25":
            ranking = lexical = self._by_words(texts, k, exclude)
            dense = self._by_vectors(asked, least, exclude, vectors, FUSED) if least else nothing
        elif self.mode == "fusion":
            dense = self._by_vectors(asked, max(k, least), exclude, vectors, FUSED)
            lexical = self._by_words(texts, max(k, least), exclude)
            width = k if k <= FUSED else 2 * FUSED
            ranking = fused(dense.first(FUSED), lexical.first(FUSED), self.lexical_weight, width)
            if k > FUSED:
                ranking = ranking.extended(fused(dense, lexical, self.lexical_weight, 2 * k, combined=np.maximum), k)
        elif self.reranker is not None:
            dense = self._by_vectors(asked, max(k, least), exclude, vectors, self.reranker.depth)
            ranking = self.reranker.reordered(self.index, pa.array(texts, pa.string()), dense, k)
        else:
            ranking = no_hits(len(texts), k)
        ids = np.array([self.index.row_id(text) for text in texts], np.int64)
        rows = self.index.rows_of(ids)
        if exclude is not None:
            rows[ids == exclude] = -1
        ranking = ranking.with_first(ids, rows, k)
        return Found(ranking, places(ranking.ids, dense.ids), places(ranking.ids, lexical.ids), dense, ids, vectors)

    def _by_probability(self, texts: Sequence[str], k: int, exclude: Int64s | None) -> Found:
        from model.search.first_by_probability import first_by_probability

        assert self.confidence is not None
        before = dataclasses.replace(self, mode="dense" if self.lexical is None else "fusion")
        found = before.find(texts, max(k, min(NEIGHBOURS, len(self.index))), exclude, neighbours=NEIGHBOURS)
        scores = 1 / np.arange(1, found.ranking.ids.shape[1] + 1)[None, :]
        if self.lexical is not None:
            scores = found.ranking.scores.astype(float)
        return first_by_probability(self.confidence, self.index, texts, found, k, exclude, scores=scores)

    def _by_vectors(
        self,
        asked: pa.Array | Sequence[str],
        k: int,
        exclude: Int64s | None,
        vectors: Matrix | None,
        first: int,
    ) -> Ranking:
        """Return at least k hits of each text by vectors, of which the first are the same for each k."""
        search = functools.partial(self.index.rank, asked, exclude=exclude, vectors=vectors)
        least, compares_all = min(first, len(self.index)), self.index.probes >= self.index.most_probes
        return search(max(k, least)) if compares_all or not self.index.codes else _first_alike(search, k, least)

    def _by_words(self, texts: Sequence[str], k: int, exclude: Int64s | None) -> Ranking:
        """Return at least k hits of each text by BM25, of which the first `FUSED` are the same for each k."""

        def search(depth: int) -> Ranking:
            assert self.lexical is not None
            return self.lexical.rank(texts, depth, exclude)

        return _first_alike(search, k, min(FUSED, len(self.index)))


def _first_alike(search: Callable[[int], Ranking], k: int, first: int) -> Ranking:
    """Return at least k hits, of which the first are the same for each k.

    A search for more hits compares more codes and reads more lists of words, and can begin with another hit.

    Args:
        search: returns as many hits as its argument.
        k: minimum number of hits.
        first: number of hits that are the same.
    """
    return search(first) if k <= first else search(first).extended(search(k), k)


def fused(dense: Ranking, lexical: Ranking, weight: float, k: int, *, combined: np.ufunc = np.add) -> Ranking:
    """Return the k best questions by ``1 / dense rank + weight / lexical rank``; ties by question id.

    With ``np.maximum`` as ``combined`` they are ordered by the greater of both terms: the order of the first hits then
    is the same, whatever the number of hits of each kind, since a later rank by the other kind changes nothing.

    Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) without their constant: 60 cost .035 of MRR on Quora's
    validation, where the first rank of either side deserves trust.
    """
    if len(dense.ids) == 1 and combined is np.add:
        return _fused_one(dense, lexical, weight, k)
    in_lexical, in_dense = places(dense.ids, lexical.ids), places(lexical.ids, dense.ids)
    by_words = np.where(in_lexical, weight / np.maximum(in_lexical, 1), 0)
    of_dense = combined(1 / np.arange(1, dense.ids.shape[1] + 1), by_words)
    of_lexical = np.broadcast_to(weight / np.arange(1, lexical.ids.shape[1] + 1), lexical.ids.shape)
    scores = np.hstack([
        np.where(dense.found, of_dense, -np.inf),
        np.where(lexical.found & (in_dense == 0), of_lexical, -np.inf),
    ])  # fmt: skip
    ids, rows = np.hstack([dense.ids, lexical.ids]), np.hstack([dense.rows, lexical.rows])
    order = np.lexsort((ids, -scores), axis=1)[:, :k]
    best = np.take_along_axis(scores, order, axis=1).astype(np.float32)
    is_hit = np.isfinite(best)
    ids, rows = (np.where(is_hit, np.take_along_axis(part, order, axis=1), -1) for part in (ids, rows))
    return Ranking(ids, best, rows)


def _fused_one(dense: Ranking, lexical: Ranking, weight: float, k: int) -> Ranking:
    """Return the same as `fused` of one query, in a quarter of its time."""
    row_of = dict(zip(lexical.ids[0].tolist(), lexical.rows[0].tolist(), strict=True))
    rank_of = {question_id: rank for rank, question_id in enumerate(lexical.ids[0].tolist(), 1)}
    hits = []
    for rank, (question_id, row) in enumerate(zip(dense.ids[0].tolist(), dense.rows[0].tolist(), strict=True), 1):
        of_lexical = rank_of.pop(question_id, None)
        if row >= 0:
            hits.append((-(1 / rank + (weight / of_lexical if of_lexical else 0)), question_id, row))
    hits += [
        (-(weight / rank), question_id, row_of[question_id])
        for question_id, rank in rank_of.items()
        if row_of[question_id] >= 0
    ]
    hits.sort()
    width = min(k, dense.ids.shape[1] + lexical.ids.shape[1])
    hits = hits[:width] + [(np.inf, -1, -1)] * (width - len(hits))
    scores, ids, rows = zip(*hits, strict=True) if hits else ((), (), ())
    return Ranking(np.array([ids], np.int64), -np.array([scores], np.float32), np.array([rows], np.int64))
