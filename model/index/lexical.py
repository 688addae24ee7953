"""BM25 over the questions of an index: weights of terms in questions, and the questions with the highest sums.

arrays of `lexical_files` -> Lexical -> Lexical.rank -> Ranking

The arrays are those of bm25s ("eager" weights, one column a term; Lù 2024, arXiv 2407.03618), read without its imports,
which take 1 s. Terms are the stems of words, which raised MRR on Quora's validation from .731 to .782. They are found
by their hash, so that nothing is read before a search.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from model.index.ranking import Ranking, no_hits
from model.index.words.loops import CompiledWords, compiled_words
from schemas.arrays import Bools, Float32s, Int32s, Int64s
from schemas.stems import stem
from schemas.text import hash64, key, words

LAYOUT: Final = {
    "ids": "<i8",
    "terms": "<i8",
    "starts": "<i8",
    "largest": "<f4",
    "questions": "<i4",
    "weights": "<f4",
}
"""Name and type of every array, a file each."""

ENTRIES: Final = 10_000
"""Entries of the lists of rare terms that are read before the questions of a query are settled: .797 of MRR on Quora's
validation in 2.7 ms of a core, like all entries in 7.0 ms; the slowest twentieth takes 5 ms instead of 21."""

SHORT: Final = 10
"""Entries of a list for each question that is looked up in it, below which adding the whole list is faster."""

_TOGETHER: Final = 256
"""Texts whose terms are looked up together."""


@dataclasses.dataclass(frozen=True)
class Lexical:
    """The BM25 weights of an index; arrays may be memory-mapped.

    Attributes:
        ids: (N,) int64, ids of all questions, ascending.
        terms: (V,) int64, hashes of all terms, ascending.
        starts: (V + 1,) int64, where the questions of each term begin.
        largest: (V,) float32, largest weight of each term.
        questions: (P,) int32, numbers of the questions with a term, ascending for each term.
        weights: (P,) float32, weight of the term in that question, above 0.
        allowed: (N,) mask of the questions that are ranked; None: all are. Weights are those among all questions.
        loops: the compiled ranking of these arrays; None: numpy ranks.
        rows: (N,) int32, row of each question in the index; None: its number.
    """

    ids: Int64s
    terms: Int64s
    starts: Int64s
    largest: Float32s
    questions: Int32s
    weights: Float32s
    allowed: Bools | None = None
    loops: CompiledWords | None = None
    rows: Int32s | None = None

    @classmethod
    def of(cls, contents: Mapping[str, Any]) -> Lexical:
        """Return the weights in the buffers of files, without a copy.

        Args:
            contents: bytes or mapped memory of each array in `LAYOUT`.

        Raises:
            ValueError: one is missing, or they do not fit together.
        """
        if missing := LAYOUT.keys() - contents.keys():
            raise ValueError(f"there is no {min(missing)}")
        arrays: dict[str, Any] = {name: np.frombuffer(contents[name], kind) for name, kind in LAYOUT.items()}
        _check(**arrays)
        return cls(**arrays)

    def compiled(self) -> Lexical:
        """Return the same weights, ranked as machine code where that is possible (`model.index.words.loops`)."""
        loops = compiled_words(self.starts, self.largest, self.questions, self.weights, len(self.ids))
        return dataclasses.replace(self, loops=loops)

    def rank(self, texts: Sequence[str], k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the k questions with the highest BM25 for each text, ties by question id; scores are sums of weights.

        A question that shares no term with the query is not ranked.

        Args:
            texts: n queries, not normalized.
            k: maximum number of questions of each, at least 1.
            exclude: for each query one question id to leave out.
        """
        ranking = no_hits(len(texts), k)
        own = None if exclude is None else np.asarray(exclude, np.int64)
        for query, (numbers, sums) in enumerate(self._all_best(texts, k if own is None else k + 1)):
            ids = self.ids[numbers]
            if own is not None:
                kept = np.flatnonzero(ids != own[query])[:k]
                numbers, sums, ids = numbers[kept], sums[kept], ids[kept]
            part = query, slice(len(ids))
            ranking.ids[part], ranking.scores[part] = ids, sums
            ranking.rows[part] = numbers if self.rows is None else self.rows[numbers]
        return ranking

    def entries(self, texts: Sequence[str]) -> Int64s:
        """Return about how many entries of the lists of terms a search of each text reads or looks up, (n,)."""
        counts = np.zeros(len(texts), np.int64)
        places, bounds = self._places(texts)
        sizes = self.starts[places + 1] - self.starts[places]
        for query, (first, last) in enumerate(itertools.pairwise(bounds.tolist())):
            read = np.cumsum(sizes[first:last])
            if len(read):
                added = max(1, int(np.count_nonzero(read <= ENTRIES)))
                counts[query] = read[added - 1] * (1 + len(read) - added)
        return counts

    def _all_best(self, texts: Sequence[str], k: int) -> Iterator[tuple[Int32s, Float32s]]:
        """Return numbers and sums of the best k questions of each text, highest first."""
        for start in range(0, len(texts), _TOGETHER):
            places, bounds = self._places(texts[start : start + _TOGETHER])
            if self.loops is not None:
                yield from self.loops.best(places, bounds, k, self.allowed, ENTRIES, SHORT)
            else:
                for first, last in itertools.pairwise(bounds.tolist()):
                    yield self._best(places[first:last], k)

    def _best(self, places: Int64s, k: int) -> tuple[Int32s, Float32s]:
        """Return numbers and sums of the best k questions of a query, highest first, given its terms, rarest first.

        Rare terms come first. As soon as a question that has none of the terms so far can no longer reach rank k, only
        the others are looked up in the lists of the frequent terms ("MaxScore", Turtle and Flood 1995), and in any case
        after `ENTRIES`, so that the time of a query is bounded. Every sum adds the same numbers in the same order.
        `model.index.words.numba_kernels` does the same.
        """
        left = np.append(np.cumsum(self.largest[places][::-1], dtype=np.float64)[::-1], 0) * (1 + 1e-6)
        sums = np.zeros(len(self.ids), np.float32)  # pages that are not written to take no memory
        candidates: list[Int32s] = []
        count, open_words = 0, 0
        for number, place in enumerate(places):
            part = slice(*self.starts[place : place + 2])
            if k <= count and count + part.stop - part.start > ENTRIES:
                break  # k questions at least have a rarer term
            if k <= count < part.stop - part.start:  # looking at the sums is cheaper than adding the term
                together = np.concatenate(candidates)
                kth = -np.partition(-sums[together], k - 1)[k - 1]
                if kth > left[number]:
                    break
            with_term = self.questions[part]
            new = with_term[sums[with_term] == 0]
            if self.allowed is not None:
                new = new[self.allowed[new]]
            sums[with_term] += self.weights[part]
            candidates.append(new)
            count += len(new)
            open_words = number + 1
        together = np.concatenate(candidates) if candidates else np.zeros(0, np.int32)
        together.sort()  # so that looking up one after the other stays near in memory
        totals = sums[together]
        for number in range(open_words, len(places)):
            part = slice(*self.starts[places[number] : places[number] + 2])
            with_term = self.questions[part]
            if len(with_term) >= SHORT * len(together):
                together, totals = self._reachable(together, totals, k, left[number])
            if len(with_term) < SHORT * len(together):  # of other questions the sum no longer matters
                sums[with_term] += self.weights[part]
                totals = sums[together]
            else:
                at = np.minimum(np.searchsorted(with_term, together), len(with_term) - 1)
                totals = totals + np.where(with_term[at] == together, self.weights[part][at], np.float32(0))
                sums[together] = totals
        together, totals = self._reachable(together, totals, k, 0.0)
        order = np.lexsort((together, -totals))[:k]
        return together[order], totals[order]

    @staticmethod
    def _reachable(together: Int32s, totals: Float32s, k: int, left: float) -> tuple[Int32s, Float32s]:
        """Return the questions that can be among the best k if a question can gain at most ``left``."""
        if len(together) <= k:
            return together, totals
        kept = totals + left >= -np.partition(-totals, k - 1)[k - 1]
        return together[kept], totals[kept]

    def _places(self, texts: Sequence[str]) -> tuple[Int64s, Int64s]:
        """Return the columns of the terms of all texts that some question has, and where those of each text begin.

        The rarest of each text come first; of equally frequent ones the one that comes first in the text.
        """
        terms = [terms_of(text) for text in texts]
        hashes = np.array([hash64(term) for of_text in terms for term in of_text], np.int64)
        text = np.repeat(np.arange(len(texts)), np.array([len(of_text) for of_text in terms], np.int64))
        places = np.searchsorted(self.terms, hashes)
        is_term = places < len(self.terms)
        is_term[is_term] = self.terms[places[is_term]] == hashes[is_term]
        places, text = places[is_term], text[is_term]
        order = np.lexsort((self.starts[places + 1] - self.starts[places], text))
        return np.asarray(places[order], np.int64), np.searchsorted(text, np.arange(len(texts) + 1))


def terms_of(text: str) -> list[str]:
    """Return the distinct stems of a text's words, in order of first appearance."""
    return list(dict.fromkeys(map(stem, words(key(text)))))


def _check(
    *,
    ids: Int64s,
    terms: Int64s,
    starts: Int64s,
    largest: Float32s,
    questions: Int32s,
    weights: Float32s,
) -> None:
    """Check that arrays fit together.

    Raises:
        ValueError: they do not.
    """
    sizes = len(starts) == len(terms) + 1 == len(largest) + 1 and len(questions) == len(weights)
    if not sizes or starts[0] != 0 or starts[-1] != len(questions) or (np.diff(starts) < 1).any():
        raise ValueError(f"lists of {len(terms):,} terms do not fit {len(questions):,} weights")
    if (terms[1:] <= terms[:-1]).any() or (ids[1:] <= ids[:-1]).any():
        raise ValueError("ids or terms do not ascend")
    if int(questions.view(np.uint32).max(initial=0)) >= len(ids):
        raise ValueError("a term is in a question that is not there")
    if not (weights.min(initial=1) > 0 and np.isfinite(largest).all()):
        raise ValueError("a weight is not above 0")
