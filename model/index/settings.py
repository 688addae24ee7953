"""Settings of an index, in its manifest.

configuration of a manifest -> IndexSettings, ModeFigures, RecallFigures
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from model.choices import Distance, IndexMode
from model.encoders.registry import PREFIXES
from model.index.factory import checked_factory
from schemas.artifacts.manifest import Source
from schemas.filters import FilterColumns, checked_vary_by


class ModeFigures(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Figures of a way of searching on validation.

    Attributes:
        queries: their number.
        hits_at_1: share with a paraphrase at rank 1.
        mrr: mean reciprocal rank of the first paraphrase.
        median_ms: computed CPU milliseconds of the median query, encoding and texts included.
    """

    queries: int = pydantic.Field(ge=1)
    hits_at_1: float = pydantic.Field(ge=0, le=1)
    mrr: float = pydantic.Field(ge=0, le=1)
    median_ms: float = pydantic.Field(ge=0, allow_inf_nan=False)


class RecallFigures(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Recall of an index's own search, against a search of all exact vectors.

    Attributes:
        queries: number of questions of the index that were searched for.
        at_10: share of their ten nearest other questions that were found.
        reworded_at_10: share of the ten nearest questions of as many wordings that the index does not have, as of
            requests: each is a question without two of its words and with one of another. None in an index of an
            earlier release.
        present_at_10: the share ``at_10`` of the present version of an index with lists, to which questions were added
            since. None if none were.
        target: the share of ``at_10`` for which the probes were chosen; None if the probes were given.
        compared: median number of vectors compared with a query.
    """

    queries: int = pydantic.Field(ge=1)
    at_10: float = pydantic.Field(ge=0, le=1)
    reworded_at_10: float | None = pydantic.Field(default=None, ge=0, le=1)
    present_at_10: float | None = pydantic.Field(default=None, ge=0, le=1)
    target: float | None = pydantic.Field(default=None, gt=0, le=1)
    compared: int = pydantic.Field(ge=0)


class IndexSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The configuration in an index's manifest.

    Attributes:
        model_digest: the model that encoded the questions; queries need the same.
        factory: FAISS factory string of every shard.
        probes: lists searched for a query, or points of a graph kept in view; 0 where every search is exact.
        dimension: of the vectors.
        questions: number of those that are not deleted.
        shards: number of parts of the first segment; a part without questions has no file.
        distance: of the model's training; the ranking is always by the Euclidean distance.
        model_url: address of the model, if the index does not contain it.
        mode: default way of searching, the best one on validation within the latency budget.
        lexical_weight: of the reciprocal rank by BM25 in mode fusion; that of the vectors' has weight 1.
        modes: validation figures of the ways of searching, by name; empty where they were not measured.
        recall: of a search with ``probes``; None where every search is exact.
        vary_by: columns of which every search names a value; None for none.
        valid_until: name in the files of the column with the end of an answer's validity; None for none.
        answerable_share: share of the requests for which probabilities are made that have an answer; None: one half.
        built_from: inputs of the build of an index that was changed since, but for the model; its confidence model
            learned from these. None before the first change.
    """

    model_digest: str
    factory: Annotated[str, pydantic.AfterValidator(checked_factory)]
    probes: int = pydantic.Field(ge=0)
    dimension: int = pydantic.Field(ge=1)
    questions: int = pydantic.Field(ge=1)
    shards: int = pydantic.Field(ge=1)
    distance: Distance
    model_url: str | None = pydantic.Field(default=None, pattern=f"^({'|'.join(PREFIXES)})")
    mode: IndexMode = "dense"
    lexical_weight: float = pydantic.Field(default=0.7, gt=0, le=100, allow_inf_nan=False)
    modes: dict[IndexMode, ModeFigures] = {}
    recall: RecallFigures | None = None
    vary_by: Annotated[tuple[str, ...], pydantic.AfterValidator(checked_vary_by)] | None = None
    valid_until: str | None = None
    answerable_share: float | None = pydantic.Field(default=None, ge=0.01, le=0.99)
    built_from: tuple[Source, ...] | None = None

    @property
    def filters(self) -> FilterColumns:
        """Return the columns that filter searches."""
        return FilterColumns(self.vary_by or (), self.valid_until)
