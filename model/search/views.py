"""Views of an index: the rows that one request may find, and the way to search them.

values of a request, time -> Views.of -> Retrieval of the rows with these values whose answers are valid then
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import functools
import itertools
import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from model.index.factory import lists_of
from model.index.index import Index
from model.index.rows.answers import have_answers
from model.index.rows.row_filters import RowFilters
from model.search.retrieval import Retrieval
from model.text.asked import checked_names
from schemas.arrays import Bools, Int64s
from schemas.errors import FilterError

_BYTES: Final = 64 * 2**20
"""Memory of the views that are kept."""

_VIEW_BYTES: Final = 12_288
"""Memory of a view, and about 3 bytes a row beside it: those of 400 rows in 8 shards took 10.4 kB."""

_MIN_VIEWS: Final = 4
"""Views that are kept whatever their size."""

_MOST_IN_VIEW: Final = 0.01
"""Share of the points of a graph above which all vectors are compared instead: a walk with 4,096 of 536,489 points in
view takes 20 CPU ms, with 8,192 57, and to compare all 35."""


Filters = Mapping[str, str] | None
"""A value of each column that the index varies by, such as ``{"locale": "de"}``."""


def utc_now() -> datetime.datetime:
    """Return the present time."""
    return datetime.datetime.now(datetime.UTC)


class Views:
    """Views of one index; the last ones are kept, since requests come back with the same values.

    Args:
        retrieval: of all rows.

    Attributes:
        whole: the way to search all rows.
    """

    def __init__(self, retrieval: Retrieval) -> None:
        self.whole = retrieval
        self._filters = retrieval.index.settings.filters
        self._kept: collections.OrderedDict[tuple[tuple[str, ...], int], Retrieval] = collections.OrderedDict()
        self._lock = threading.Lock()
        self._max_views = max(_MIN_VIEWS, _BYTES // (_VIEW_BYTES + 3 * len(retrieval.index)))

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """Return the values of each column that a request has to name, ascending."""
        return self._rows.values if self._filters.vary_by else {}

    @functools.cached_property
    def _rows(self) -> RowFilters:
        return self.whole.index.row_filters

    def of(self, filters: Filters, now: datetime.datetime) -> Retrieval:
        """Return the way to search the rows with the values of a request whose answers are valid at a time.

        Raises:
            FilterError: a column is missing or unknown, no question has the value, or the filters are no mapping.
        """
        if filters is not None and not isinstance(filters, Mapping):
            raise FilterError(f"have to be a dict of columns and values, got {type(filters).__name__}")
        if not self._filters:
            if filters:
                name = str(next(iter(filters)))[:60]
                raise FilterError(f"{name!a}: this index has no column to filter by. Leave it out")
            return self.whole
        values = self._rows.checked(filters)
        key = values, self._rows.period(now)
        if not values and not key[1]:
            return self.whole
        with self._lock:
            view = self._kept.get(key)
        view = view or self._made(*key)  # without the lock, so that searches with other values go on
        with self._lock:
            view = self._kept.setdefault(key, view)
            self._kept.move_to_end(key)
            while len(self._kept) > self._max_views:
                self._kept.popitem(last=False)
        return view

    def _made(self, values: tuple[str, ...], period: int) -> Retrieval:
        return self.within(self._rows.masks(values, period), values)

    def without(self, answer_ids: Iterable[str]) -> Views:
        """Return the views without the rows of some answers; values that only these have stay known.

        A search compares as many more vectors as such rows can hide, were all of them the nearest.

        Raises:
            UsageError: the ids are one str, or no iterable of str.
        """
        part = self.within(_masks_without(self.whole.index, checked_names(answer_ids, "answer_ids")))
        hidden = len(part.index) - sum(int(np.count_nonzero(shard.mask)) for shard in part.index.shards)
        index = part.index.with_fields(probes=_probes_past(part.index, hidden))
        views = Views(dataclasses.replace(part, index=index))
        if self._filters:
            views.__dict__["_rows"] = self._rows
        return views

    def among(self, question_ids: Int64s) -> Retrieval:
        """Return the way to search some questions; weights of words stay those among all."""
        return self.within([np.isin(ids, question_ids) for ids in self.whole.index.question_ids])

    def within(self, masks: Sequence[Bools], values: Sequence[str] = ()) -> Retrieval:
        """Return the way to search some rows; arguments as of `model.index.index.Index.within`."""
        return within_part(self.whole, self.whole.index.within(masks, values))


def within_part(retrieval: Retrieval, part: Index) -> Retrieval:
    """Return the way to search a part of an index, as `model.index.index.Index.within` returns it."""
    lexical = retrieval.lexical
    if lexical is not None:
        allowed = np.concatenate([shard.mask for shard in part.shards])
        lexical = dataclasses.replace(lexical, allowed=allowed[lexical.rows])
    return dataclasses.replace(retrieval, index=part, lexical=lexical)


def _masks_without(index: Index, answer_ids: frozenset[str]) -> list[Bools]:
    """Return the mask of each shard's live rows with none of these answers."""
    excluded = pa.array(sorted(answer_ids), pa.string())
    starts = [*itertools.accumulate(map(len, index.shards), initial=0)]
    allowed = np.zeros(starts[-1], bool)
    for rows in index.row_batches():
        allowed[rows] = ~have_answers(index.questions(rows), excluded)
    return np.split(allowed, starts[1:-1])


def _probes_past(index: Index, hidden: int) -> int:
    """Return the probes of a search of which some rows, that may be the nearest ones, are hidden."""
    if lists := lists_of(index.settings.factory):
        return min(lists, index.probes + math.ceil(lists * hidden / len(index)))
    in_view = index.probes + hidden
    return index.most_probes if in_view > _MOST_IN_VIEW * len(index) else in_view
