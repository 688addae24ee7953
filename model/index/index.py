"""An opened index of questions, searched as if its shards were one.

texts -> Index.rank -> Ranking, arrays; rows -> Index.questions -> table
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.encoders.interface import Encoder
from model.index.codes import Codes
from model.index.consistency import IdTable
from model.index.factory import most_probes
from model.index.ranking import Ranking
from model.index.refinement import RefinedSearch
from model.index.rows.cells import AT_A_TIME, Records
from model.index.rows.row_filters import RowFilters, probes_within
from model.index.settings import IndexSettings
from model.index.shard_merge import Nearest, nearest
from model.index.shards import Shard
from schemas.arrays import Bools, Int64s, Matrix
from schemas.artifacts.verified_files.files import VerifiedFiles, reading_threads
from schemas.errors import UsageError
from schemas.filters import row_id, row_suffix
from schemas.tables import INDEX_ROWS, take_rows
from schemas.text import words_of

_ONE_BY_ONE: Final = 8
"""Number of ids that are found one after the other: more are found sooner by the calls of numpy."""

Texts: TypeAlias = pa.Array | Sequence[str]


@dataclasses.dataclass(frozen=True)
class Index:
    """An opened index.

    Attributes:
        url: of the index.
        settings: of its build.
        probes: lists searched for a query, or points of a graph that a search keeps in view.
        encoder: the model that encoded the questions.
        shards: the opened FAISS indexes of all segments.
        question_ids: of each shard, ascending; of deleted rows too.
        stored: its files.
        codes: of the vectors of each segment that has some.
        suffix: text that follows the key of a question in the hash of its row, by the values of a request.
    """

    url: str
    settings: IndexSettings = dataclasses.field(repr=False)
    probes: int
    encoder: Encoder
    shards: tuple[Shard, ...] = dataclasses.field(repr=False)
    question_ids: tuple[Int64s, ...] = dataclasses.field(repr=False)
    stored: VerifiedFiles = dataclasses.field(repr=False)
    _id_tables: tuple[IdTable, ...] = dataclasses.field(repr=False)
    codes: tuple[Codes, ...] = dataclasses.field(default=(), repr=False)
    suffix: str = ""

    def __len__(self) -> int:
        return self.settings.questions

    @functools.cached_property
    def listed(self) -> tuple[Shard, ...]:
        """Return the codes or shards that have inverted lists."""
        return tuple(shard for shard in (*(of.shard for of in self.codes), *self.shards) if shard.lists)

    @property
    def most_probes(self) -> int:
        """Return the probes with which every vector is compared, 0 where every search is exact."""
        return most_probes(self.settings.factory)

    @property
    def row_filters(self) -> RowFilters:
        """Return the values and ends of validity of all rows."""
        return RowFilters(self.settings.filters, self._tables, [shard.live for shard in self.shards])

    @functools.cached_property
    def has_answers(self) -> bool:
        """Return whether a question has an answer; in an index of pairs none has."""
        return any(table["answer"].null_count < len(table) for table in self._tables)

    def within(self, masks: Sequence[Bools], values: Sequence[str]) -> Index:
        """Return the same index, of which only some rows are found.

        Args:
            masks: of each shard the rows that may be found, unless they were deleted.
            values: that these rows have, in the order of the columns; none where something else decides on the rows.
        """
        shards = tuple(shard.within(mask) for shard, mask in zip(self.shards, masks, strict=True))
        allowed = sum(int(np.count_nonzero(shard.mask)) for shard in shards)
        probes = probes_within(self.probes, most=self.most_probes, allowed=allowed, rows=len(self))
        return self.with_fields(shards=shards, probes=probes, suffix=row_suffix(values))

    def with_fields(self, **changes: Any) -> Index:
        """Return the index with other fields, and what was read of its rows."""
        part = dataclasses.replace(self, **changes)
        part.__dict__.update(_tables=self._tables, _records=self._records, _starts=self._starts)
        return part

    def row_id(self, text: str) -> int:
        """Return the id that the row of a question has."""
        return row_id(text, self.suffix)

    def rank(
        self, texts: Texts, k: int, exclude: npt.ArrayLike | None = None, vectors: Matrix | None = None
    ) -> Ranking:
        """Return the k questions nearest to each text as arrays; equal scores rank by question id.

        A text without a word has no hits.

        Args:
            texts: queries, not normalized.
            k: maximum number of hits of each.
            exclude: for each query one question id to leave out, such as its own.
            vectors: of the texts, if they are encoded already.

        Raises:
            UsageError: k is under 1.
        """
        ranking = self.rank_vectors(self.encoder.encode(texts) if vectors is None else vectors, k, exclude)
        wordless = [not words_of(text) for text in (texts.to_pylist() if isinstance(texts, pa.Array) else texts)]
        if any(wordless):
            ranking.ids[wordless], ranking.scores[wordless], ranking.rows[wordless] = -1, -np.inf, -1
        return ranking

    def rank_vectors(self, vectors: Matrix, k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the k questions nearest to each vector, (n, dimension) float32; otherwise like `rank`."""
        if k < 1:
            raise UsageError(f"k must be at least 1, got {k}")
        more = k if exclude is None else k + 1  # one may be left out
        best = self._nearest(vectors, k=more, probes=self.probes)
        if exclude is not None:
            best = best.without(np.asarray(exclude, np.int64), k)
        return Ranking(best.ids, np.float32(0) - best.distances, best.rows)  # never -0.0

    @functools.cached_property
    def _nearest(self) -> Callable[..., Nearest]:
        """Return `nearest` of the shards, or of the codes where there are some."""
        if self.codes:
            return RefinedSearch(self.codes, self.shards, self.question_ids, self.most_probes).nearest
        return functools.partial(nearest, self.shards, self.question_ids)

    def questions(self, rows: npt.ArrayLike) -> pa.Table:
        """Return the questions at these rows, none negative: `INDEX_ROWS` and the columns that filter."""
        given = np.asarray(rows, np.int64)
        shard = np.searchsorted(self._starts, given, side="right") - 1
        order = np.argsort(shard, kind="stable")
        ends = np.searchsorted(shard[order], np.arange(len(self._tables) + 1))
        parts = [
            take_rows(table, given[order[first:last]] - start)
            for table, start, (first, last) in zip(self._tables, self._starts, itertools.pairwise(ends), strict=True)
        ]
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return take_rows(pa.concat_tables(parts), place)

    def tables(self, rows: int = AT_A_TIME) -> Iterator[pa.Table]:
        """Yield all questions that are not deleted in the order of their rows, as `questions`, some rows at a time."""
        return map(self.questions, self.row_batches(rows))

    def row_batches(self, rows: int = AT_A_TIME) -> Iterator[Int64s]:
        """Yield the numbers of all rows that are not deleted, ascending, of some rows at a time."""
        for start in range(0, len(self), rows):
            yield self.live_rows(np.arange(start, min(start + rows, len(self))))

    def records(self, rows: Int64s) -> list[dict[str, Any]]:
        """Return the same as dicts for a few rows in a hundredth of the time, without columns that filter searches."""
        return self._records.of(rows.tolist())

    def column(self, name: str, rows: Int64s) -> list[Any]:
        """Return one column of `records`."""
        return self._records.column(name, rows.tolist())

    def vectors_of(self, rows: Int64s) -> Matrix | None:
        """Return the vectors of a few rows, (n, dimension); None unless all shards are flat, in order of their rows."""
        if not all(shard.is_flat for shard in self.shards):
            return None
        shards = np.searchsorted(self._starts, rows, side="right") - 1
        places = zip(shards.tolist(), (rows - self._starts[shards]).tolist(), strict=True)
        vectors = [self.shards[shard].vectors[row] for shard, row in places]
        return np.array(vectors, np.float32).reshape(-1, self.settings.dimension)

    def rows_of(self, question_ids: Int64s) -> Int64s:
        """Return the row of each question id (n,), -1 where the index does not have it, or no longer."""
        if len(question_ids) <= _ONE_BY_ONE:
            return np.array([self._row_of(question_id) for question_id in question_ids.tolist()], np.int64)
        rows, start = np.full(len(question_ids), -1, np.int64), 0
        for ids, shard in zip(self.question_ids, self.shards, strict=True):
            place = np.minimum(np.searchsorted(ids, question_ids), len(ids) - 1)
            is_listed = ids[place] == question_ids
            if shard.live is not None:
                is_listed &= shard.live[place]
            rows = np.where(is_listed, start + place, rows)
            start += len(ids)
        return rows

    def has(self, question_id: int) -> bool:
        """Return whether a row of this id can be found."""
        return self._row_of(question_id) >= 0

    def _row_of(self, question_id: int) -> int:
        """Return `rows_of` of one id, in a tenth of the time of the calls of numpy."""
        for ids, shard, start in self._searched_ids:
            place = bisect.bisect_left(ids, question_id)
            if place < len(ids) and ids[place] == question_id and (shard.live is None or shard.live[place]):
                return start + place
        return -1

    @functools.cached_property
    def _searched_ids(self) -> list[tuple[memoryview, Shard, int]]:
        starts = self._starts.tolist()
        return [(ids.data, *rest) for ids, *rest in zip(self.question_ids, self.shards, starts, strict=True)]

    def live_rows(self, numbers: npt.ArrayLike) -> Int64s:
        """Return the rows of questions by number, from 0 to ``len(self) - 1``: rows in order, without deleted ones."""
        given = np.asarray(numbers, np.int64)
        return given if self._live is None else self._live[given]

    @functools.cached_property
    def _live(self) -> Int64s | None:
        """Return all rows that are not deleted, None where none is."""
        if all(shard.live is None for shard in self.shards):
            return None
        return np.flatnonzero(np.concatenate([shard.mask for shard in self.shards]))

    @functools.cached_property
    def _starts(self) -> Int64s:
        """Return the first row of each shard."""
        return np.array([*itertools.accumulate(map(len, self.shards[:-1]), initial=0)], np.int64)

    @functools.cached_property
    def _tables(self) -> list[pa.Table]:
        with ThreadPoolExecutor(reading_threads()) as pool:
            return [*pool.map(IdTable.read, self._id_tables)]

    @functools.cached_property
    def _records(self) -> Records:
        return Records([table.select(INDEX_ROWS.names) for table in self._tables], self._starts.tolist())
