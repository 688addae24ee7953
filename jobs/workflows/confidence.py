"""Fit of the confidence model at the end of `qpr index`, from the validation clusters of the indexed datasets.

validation clusters, an index that is not published yet -> fit_confidence -> confidence.json, its measures, Folds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from jobs.display.console import counting, say
from model.confidence.confidence import Confidence
from model.confidence.examples import examples
from model.confidence.features import Flags
from model.confidence.fitting import LEAST_QUERIES, fold_models, learn, out_of_fold
from model.confidence.quality import quality
from model.confidence.saved_confidence import FILE, to_json
from model.evaluation.relevance import judgements
from model.index.index import Index
from model.reranking.term_statistics import WordCounts
from schemas.artifacts.manifest import File
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.tables import CONFIDENCE
from schemas.text_arrays import key_all

MOST_QUERIES: Final = 5_000
"""Maximum queries: Quora's 2,660 take a minute of one core, an eighth of what the index takes."""

COUNTED: Final = 1_000_000
"""Maximum questions whose words are counted."""


Folds = Sequence[tuple[Flags, Confidence]]
"""Of each fold: which validation queries are in it, in the order of `judgements`, and the model of all others."""


class FittedConfidence(NamedTuple):
    """The file of a confidence model, counters and measures for the manifest, and the folds; empty without a model."""

    files: list[File]
    counters: dict[str, int]
    distributions: dict[str, dict[str, float]]
    folds: Folds = ()


NONE: Final = FittedConfidence([], {}, {})


def fit_confidence(clusters: pa.Table, target: Output, opened: Callable[[], Index]) -> FittedConfidence:
    """Fit and write the confidence model of an index; without enough validation clusters there is none.

    Args:
        clusters: validation clusters of the indexed datasets.
        target: the index.
        opened: returns it, opened.

    Raises:
        QprError: a file of the index cannot be read.
    """
    judged = judgements(clusters, limit=MOST_QUERIES)
    if len(judged) < LEAST_QUERIES:
        found = f"{counted(len(judged), 'query')} in split validation, {LEAST_QUERIES} are needed"
        say(f"no confidence model, so hits have no probability: {found}")
        return NONE
    index = opened()
    counts = counts_of(index)
    with counting("learning confidence, queries", total=len(judged)) as show:
        gathered = examples(index, judged, counts, on_queries=show)
    nearest = gathered.right[:, 0]
    if nearest.all() or not nearest.any():
        found = f"the nearest question is {'right' if nearest.all() else 'wrong'} for every query"
        say(f"no confidence model, so hits have no probability: {found}")
        return NONE
    try:
        models = [*fold_models(gathered)]
        measures = quality(out_of_fold(gathered, models), nearest)
        content = to_json(Confidence(counts, learn(gathered)))
    except QprError as error:
        say(f"no confidence model, so hits have no probability: {error}")
        return NONE
    return FittedConfidence(
        [target.write(FILE, content, table=CONFIDENCE)],
        {"confidence_queries": len(judged)},
        {CONFIDENCE: {name: round(value, 4) for name, value in measures._asdict().items()}},
        [(out[: len(judged)], Confidence(counts, model)) for out, model in models],
    )


def counts_of(index: Index) -> WordCounts:
    """Return the number of questions with each word, of evenly spaced questions of an index."""
    step = -(-len(index) // COUNTED)
    rows = index.live_rows(np.arange(0, len(index), step))
    return WordCounts.of(key_all(index.questions(rows)["text"].combine_chunks()))
