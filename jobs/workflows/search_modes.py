"""Choice of the default way of searching an index, by validation clusters or the wordings of answers.

clusters, an index that is not published yet -> with_mode -> settings with default way and figures
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from jobs.display.console import working
from jobs.workflows.confidence import Folds
from model.choices import IndexMode
from model.confidence.examples import parts_of
from model.evaluation.evaluator import metrics_of
from model.evaluation.relevance import Judgements, judgements
from model.index.index import Index
from model.index.lexical import Lexical
from model.index.lexical_files import open_lexical
from model.index.ranking import Ranking, joined
from model.index.settings import IndexSettings, ModeFigures
from model.index.sizing.query_cost import mode_ms
from model.search.retrieval import Retrieval, fused
from model.search.views import within_part
from schemas.arrays import Int64s
from schemas.artifacts.manifest import Manifest
from schemas.tables import LEXICAL

QUERIES: Final = 1_000
"""Maximum queries: differences of a point of MRR are seen, and at Quora's size they take half a minute."""

LEAST_QUERIES: Final = 100
"""With fewer, a difference between two ways is mostly chance."""

WEIGHTS: Final = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
"""Weights of BM25's reciprocal ranks in a fusion that are compared."""

DEPTH: Final = 20
"""Hits of a query that are compared: those that a fusion orders together (`FUSED`)."""

WORTH: Final = 0.005
MUCH_FASTER: Final = 0.75
"""MRR that a slower way has to gain, since of 1,000 queries less is mostly chance, over one that takes at most this
share of its time. Mode probability takes a sixth more than a fusion, and was better by validation of ten trainings, by
.015 on average."""


class MeasuredModes(NamedTuple):
    """Figures of each way of searching, and the best weight of BM25 in a fusion."""

    figures: dict[IndexMode, ModeFigures]
    lexical_weight: float


def with_mode(
    settings: IndexSettings,
    clusters: pa.Table,
    draft: Manifest,
    opened: Callable[[], Index],
    *,
    folds: Folds,
    latency_ms: float,
) -> IndexSettings:
    """Return the settings of an index with its default way of searching; without BM25 or enough queries, dense.

    Args:
        settings: of the index.
        clusters: validation clusters of the indexed datasets, or wordings of answers.
        draft: manifest of the index so far.
        opened: returns the index, opened.
        folds: of its confidence model; none where it has none.
        latency_ms: maximum computed median CPU milliseconds of a query in the default way.

    Raises:
        QprError: a file of the index cannot be read.
    """
    if not draft.of(LEXICAL):
        return settings
    judged = judgements(clusters, limit=QUERIES)
    if len(judged) < LEAST_QUERIES:
        return settings
    index = opened()
    lexical = open_lexical(draft, index)
    assert lexical is not None
    with working("Comparing ways of searching"):
        measured = measured_modes(judged, index, lexical, folds)
    mode = chosen_mode(measured.figures, latency_ms=latency_ms)
    chosen = {"mode": mode, "lexical_weight": measured.lexical_weight, "modes": measured.figures}
    return settings.model_copy(update=chosen)


def measured_modes(judged: Judgements, index: Index, lexical: Lexical, folds: Folds) -> MeasuredModes:
    """Return the figures of ways to search an index, and the best weight of a fusion.

    Probabilities are measured by models that have not seen the cluster of a query. In an index that varies by columns
    a query searches the rows with its values; its time is computed as that of a search of all rows.
    """
    ways: dict[IndexMode, Retrieval] = {"dense": Retrieval(index), "bm25": Retrieval(index, "bm25", lexical)}
    ranked = {name: _ranked(judged, _in_parts(way, judged)) for name, way in ways.items()}
    fusions = {weight: fused(ranked["dense"], ranked["bm25"], weight, DEPTH) for weight in WEIGHTS}
    by_weight = {weight: metrics_of(ranking.ids, judged).mrr for weight, ranking in fusions.items()}
    best = max(by_weight, key=by_weight.__getitem__)
    ranked["fusion"] = fusions[best]
    if folds:
        way = Retrieval(index, "probability", lexical, best)
        ranked["probability"] = _ranked(judged, _by_folds(_in_parts(way, judged), folds))
    computed = mode_ms(index, lexical, judged.texts)
    return MeasuredModes({name: _figures(of.ids, computed[name], judged) for name, of in ranked.items()}, best)


def chosen_mode(figures: Mapping[IndexMode, ModeFigures], *, latency_ms: float) -> IndexMode:
    """Return the best way among those within the latency; dense where none is, or none was measured.

    The best has the highest MRR; a much faster way whose MRR is at most `WORTH` lower is preferred.
    """
    fast = {name: of for name, of in figures.items() if of.median_ms <= latency_ms}
    if not fast:
        return "dense"
    best = max(fast, key=lambda name: (fast[name].mrr, -fast[name].median_ms))
    least, longest = fast[best].mrr - WORTH, fast[best].median_ms * MUCH_FASTER
    faster = [name for name, of in fast.items() if of.mrr >= least and of.median_ms <= longest]
    return min(faster or [best], key=lambda name: (fast[name].median_ms, -fast[name].mrr))


def _in_parts(way: Retrieval, judged: Judgements) -> Iterator[tuple[Int64s, Retrieval]]:
    """Yield numbers of queries and the way to search the rows that they may find, every query once."""
    for queries, part in parts_of(way.index, judged):
        yield queries, way if part is way.index else within_part(way, part)


def _by_folds(ways: Iterable[tuple[Int64s, Retrieval]], folds: Folds) -> Iterator[tuple[Int64s, Retrieval]]:
    """Yield the queries of each fold, to be ranked by a confidence model of all other clusters."""
    for queries, way in ways:
        for out, confidence in folds:
            yield queries[out[queries]], dataclasses.replace(way, confidence=confidence)


def _ranked(judged: Judgements, ways: Iterable[tuple[Int64s, Retrieval]]) -> Ranking:
    """Return the hits of every query, found in the way that is given with its number."""
    rankings, done = list[Ranking](), list[Int64s]()
    for queries, way in ways:
        if len(queries):
            hits = way.find(judged.texts.take(pa.array(queries)), DEPTH, judged.ids[queries])
            rankings.append(hits.ranking)
            done.append(queries)
    whole, back = joined(rankings), np.argsort(np.concatenate(done))
    return Ranking(*(values[back] for values in vars(whole).values()))


def _figures(ranked: Int64s, computed_ms: float, judged: Judgements) -> ModeFigures:
    metrics = metrics_of(ranked, judged)
    return ModeFigures(
        queries=len(judged),
        hits_at_1=round(metrics.hits_at_1, 4),
        mrr=round(metrics.mrr, 4),
        median_ms=round(computed_ms, 3),
    )
