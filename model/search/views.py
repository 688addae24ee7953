"""Views of an index: the rows that one request may find, and the way to search them.

values of a request, time -> Views.of -> Retrieval of the rows with these values whose answers are valid then
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import functools
import threading
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from model.index.ranking import Ints
from model.index.rows.row_filters import Mask, RowFilters
from model.search.retrieval import Retrieval
from schemas.errors import UsageError

_BYTES: Final = 64 * 2**20
"""Memory of the views that are kept; one has about 3 bytes a row."""

_MIN_VIEWS: Final = 4
"""Views that are kept whatever their size."""


Filters = Mapping[str, str] | None
"""A value of each column that the index varies by, such as ``{"locale": "de"}``."""


def utc_now() -> datetime.datetime:
    """Return the present time."""
    return datetime.datetime.now(datetime.UTC)


class Views:
    """Views of one index; the last ones are kept, since requests come back with the same values.

    Args:
        retrieval: of all rows.
    """

    def __init__(self, retrieval: Retrieval) -> None:
        self._all = retrieval
        self._filters = retrieval.index.settings.filters
        self._kept: collections.OrderedDict[tuple[tuple[str, ...], int], Retrieval] = collections.OrderedDict()
        self._lock = threading.Lock()
        self._max_views = max(_MIN_VIEWS, _BYTES // max(1, 3 * len(retrieval.index)))

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """Return the values of each column that a request has to name, ascending."""
        return self._rows.values if self._filters.vary_by else {}

    @functools.cached_property
    def _rows(self) -> RowFilters:
        return self._all.index.row_filters

    def of(self, filters: Filters, now: datetime.datetime) -> Retrieval:
        """Return the way to search the rows with the values of a request whose answers are valid at a time.

        Raises:
            UsageError: a column is missing or unknown, or no question has the value.
        """
        if not self._filters:
            if filters:
                raise UsageError(f"filters: {str(next(iter(filters)))[:60]!a}: this index has no column to filter by")
            return self._all
        values = self._rows.checked(filters)
        wanted = values, self._rows.period(now)
        if not values and not wanted[1]:
            return self._all
        with self._lock:
            view = self._kept.get(wanted)
        view = view or self._made(*wanted)  # without the lock, so that searches with other values go on
        with self._lock:
            view = self._kept.setdefault(wanted, view)
            self._kept.move_to_end(wanted)
            while len(self._kept) > self._max_views:
                self._kept.popitem(last=False)
        return view

    def _made(self, values: tuple[str, ...], period: int) -> Retrieval:
        return self.within(self._rows.masks(values, period), values)

    def among(self, question_ids: Ints) -> Retrieval:
        """Return the way to search some questions; weights of words stay those among all."""
        shards = zip(self._all.index.question_ids, self._all.index.shards, strict=True)
        return self.within(
            [np.isin(ids, question_ids) & (True if shard.live is None else shard.live) for ids, shard in shards]
        )

    def within(self, masks: Sequence[Mask], values: Sequence[str] = ()) -> Retrieval:
        """Return the way to search some rows; arguments as of `model.index.index.Index.within`."""
        index, lexical = self._all.index.within(masks, values), self._all.lexical
        if lexical is not None:
            lexical = dataclasses.replace(lexical, allowed=np.concatenate(masks)[lexical.rows])
        return dataclasses.replace(self._all, index=index, lexical=lexical)
