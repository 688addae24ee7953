"""An opened index of questions, searched as if its shards were one.

question -> Index.search -> list of Hit; texts -> Index.rank -> Ranking, arrays
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pydantic

from model.choices import Distance
from model.encoders.interface import Encoder
from model.encoders.kinds import PREFIXES
from model.index.consistency import IdTable
from model.index.factory import checked_factory
from model.index.hits import Hit, Ranking, check_question, check_questions, hits_of
from model.index.shard_merge import Ints, nearest
from model.index.shards import Matrix, Shard
from schemas.errors import UsageError
from schemas.text import key, words


class IndexSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The configuration in an index's manifest.

    Attributes:
        model_digest: the model that encoded the questions; queries need the same.
        factory: FAISS factory string of every shard.
        probes: lists searched for a query; 0 where the factory has no lists.
        dimension: numbers a vector.
        questions: how many are indexed.
        shards: how many parts they were dealt to; one without a question has no file.
        distance: what the model was trained to compare by; the ranking is always that of the Euclidean one.
        model_url: where the model is, if the index does not hold it.
    """

    model_digest: str
    factory: Annotated[str, pydantic.AfterValidator(checked_factory)]
    probes: int = pydantic.Field(ge=0)
    dimension: int = pydantic.Field(ge=1)
    questions: int = pydantic.Field(ge=1)
    shards: int = pydantic.Field(ge=1)
    distance: Distance
    model_url: str | None = pydantic.Field(default=None, pattern=f"^({'|'.join(PREFIXES)})")


class Reorder(Protocol):
    """A reranker, as an index sees it."""

    @property
    def url(self) -> str:
        """Return where it was read."""
        ...

    @property
    def depth(self) -> int:
        """Return the number of nearest questions that it orders."""
        ...

    def reordered(self, index: Index, texts: pa.Array, ranking: Ranking, k: int) -> Ranking:
        """Return the k best of a ranking's questions for each text."""
        ...


@dataclasses.dataclass(frozen=True)
class Index:
    """An opened index.

    Attributes:
        url: where it is.
        settings: how it was built.
        probes: lists searched for a query.
        encoder: the model that encoded the questions.
        shards: the opened FAISS indexes.
        question_ids: of each shard, ascending.
        reranker: orders the nearest questions of a text anew.
    """

    url: str
    settings: IndexSettings
    probes: int
    encoder: Encoder
    shards: tuple[Shard, ...]
    question_ids: tuple[Ints, ...]
    _id_tables: tuple[IdTable, ...] = dataclasses.field(repr=False)
    reranker: Reorder | None = None

    def __len__(self) -> int:
        return self.settings.questions

    def search(self, question: str, k: int = 10) -> list[Hit]:
        """Return the questions nearest to one question, the best first.

        There are k of them, or all where the index has fewer, or fewer where the lists searched hold fewer; for a
        question without a word the list is empty. Equal scores rank by question id.

        >>> index = open_index("index")
        >>> [hit.rank for hit in index.search("how do I pay my bill", k=2)]
        [1, 2]

        Raises:
            UsageError: ``question`` is no str, or k is under 1.
        """
        return self.search_many([check_question(question)], k)[0]

    def search_many(self, questions: Sequence[str], k: int = 10) -> list[list[Hit]]:
        """Return what `search` returns for each of several questions, which takes less time than one by one.

        Raises:
            UsageError: ``questions`` is one str, holds something else than str, or k is under 1.
        """
        ranking = self.rank(check_questions(questions), min(k, len(self)))
        return hits_of(ranking, self.questions(ranking.rows[ranking.found]))

    def rank(self, texts: pa.Array | Sequence[str], k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the k questions nearest to each text as arrays; equal scores rank by question id.

        A text without a word has no hits. With a reranker its order is that of the first ones.

        Args:
            texts: queries, as they were asked.
            k: how many hits of each.
            exclude: one question id a query that it must not find, such as its own.

        Raises:
            UsageError: k is under 1.
        """
        asked = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
        more = max(k, min(self.reranker.depth, len(self))) if self.reranker and k > 0 else k
        ranking = self.rank_vectors(self.encoder.encode(asked), more, exclude)
        wordless = np.array([not words(key(text)) for text in asked.to_pylist()], bool)
        ranking.ids[wordless], ranking.scores[wordless], ranking.rows[wordless] = -1, -np.inf, -1
        if self.reranker is None:
            return ranking
        return self.reranker.reordered(self, asked, ranking, k)

    def rank_vectors(self, vectors: Matrix, k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the k questions nearest to each vector, (n, dimension) float32; otherwise like `rank`."""
        if k < 1:
            raise UsageError(f"k must be at least 1, got {k}")
        more = k if exclude is None else k + 1
        found = nearest(self.shards, self.question_ids, vectors, k=more, probes=self.probes)
        if exclude is not None:
            found = found.without(np.asarray(exclude, np.int64), k)
        return Ranking(found.ids, np.float32(0) - found.distances, found.rows)

    def questions(self, rows: npt.ArrayLike) -> pa.Table:
        """Return the questions at these rows, `schemas.tables.ID_TABLE` and ``answer_id``; no row may be negative."""
        return self._table.take(pa.array(np.asarray(rows, np.int64)))

    @functools.cached_property
    def _table(self) -> pa.Table:
        with ThreadPoolExecutor(reading_threads()) as pool:
            parts = pool.map(IdTable.read, self._id_tables)
            return pa.concat_tables(parts).combine_chunks()  # taking 20 rows of one chunk: 30 us; of eight: 4 ms


def reading_threads() -> int:
    """Return how many files are read at a time."""
    return min(8, os.cpu_count() or 1)
