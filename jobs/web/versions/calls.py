"""Calls of the searcher of a version, made in a thread for one request or for several.

Call, questions -> results of the searcher, or documents of its hits
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from jobs.web.messages.documents import HitDocument, hit_documents
from jobs.web.versions.leases import Version
from model.choices import Mode

if TYPE_CHECKING:
    from model.search.results import Hit

Kind = Literal["search", "answer"]

NO_VALUES: Final[Mapping[str, str]] = types.MappingProxyType({})
"""Values of a request to an index that varies by no column."""


class Listing(NamedTuple):
    """Documents of hits, made in the thread that found them: those of 1,000 questions take the event loop 70 ms.

    Attributes:
        k: maximum number of hits.
        blocked: ids of answers whose hits are left out.
        past: their rows are left out of the search, so that others are found.
    """

    k: int
    blocked: frozenset[str]
    past: bool = False

    def of(self, hits: Sequence[Hit]) -> Listed:
        """Return the documents of the hits of one question."""
        documents = hit_documents(hits, self.k, blocked=self.blocked)
        return Listed(documents, len(documents) < min(len(hits), self.k))


class Listed(NamedTuple):
    """Documents of hits, and whether others were left out in whose place further hits may be found."""

    documents: list[HitDocument]
    lacks: bool


class Call(NamedTuple):
    """Equal calls are made together."""

    version: Version
    kind: Kind
    k: int
    mode: Mode | None
    filters: tuple[tuple[str, str], ...]
    listing: Listing | None

    @property
    def way(self) -> tuple[object, ...]:
        """Return all that decides how long the search of a question takes, but for the version."""
        return self.kind, self.k, self.mode

    @property
    def makes_view(self) -> bool:
        """Return whether a part of the rows is searched: the first such search can take a second."""
        return bool(self.filters) or (self.listing is not None and self.listing.past)

    def __call__(self, questions: Sequence[str]) -> Sequence[Any]:
        """Return the result of each question, or the documents of its hits."""
        searcher, filters = self.version.searcher, dict(self.filters)
        if self.kind == "answer":
            return searcher.answer_many(questions, hits=self.k, filters=filters)
        if self.listing is not None and self.listing.past:
            searcher = self.version.without(self.listing.blocked)
        results = searcher.search_many(questions, self.k, mode=self.mode, filters=filters)
        return results if self.listing is None else [*map(self.listing.of, results)]
