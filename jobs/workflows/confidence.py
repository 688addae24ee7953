"""Fit of the confidence model at the end of `qpr index`: from validation clusters, or from the wordings of answers.

clusters, an index that is not published yet -> fit_confidence -> confidence.json, its measures, Folds
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.display.console import counting, warn
from model.confidence.confidence import Confidence
from model.confidence.examples import examples
from model.confidence.fitting import ANSWERABLE, LEAST_GROUPS, LEAST_QUERIES, fold_models, learn, out_of_fold
from model.confidence.quality import quality
from model.confidence.saved_confidence import FILE, to_json
from model.confidence.wordings import examples_of_answers, topics
from model.evaluation.relevance import Judgements, judgements, with_row_ids
from model.index.index import Index
from model.reranking.term_statistics import WordCounts
from schemas.arrays import Bools
from schemas.artifacts.dataset import open_dataset
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


Folds = Sequence[tuple[Bools, Confidence]]
"""Of each fold: which validation queries are in it, in the order of `judgements`, and the model of all others."""


class FittedConfidence(NamedTuple):
    """The file of a confidence model, counters and measures for the manifest, and the folds; empty without a model."""

    files: list[File]
    counters: dict[str, int]
    distributions: dict[str, dict[str, float]]
    folds: Folds = ()


def validation_clusters(datasets: Mapping[str, Sequence[str]]) -> pa.Table:
    """Return ids and texts of the validation clusters of datasets, as an index of these has them.

    Args:
        datasets: URLs, at least one, each with its values of the columns that the index varies by.
    """
    return pa.concat_tables(
        with_row_ids(open_dataset(url).cluster_texts("validation"), values) for url, values in datasets.items()
    )


def fit_confidence(
    clusters: pa.Table,
    target: Output,
    opened: Callable[[], Index],
    *,
    answerable_share: float | None,
    by_answer: bool,
) -> FittedConfidence:
    """Fit and write the confidence model of an index; without enough clusters there is none.

    Args:
        clusters: validation clusters of the indexed datasets, or wordings of answers.
        target: the index.
        opened: returns it, opened.
        answerable_share: share of the requests that have an answer in the index, for which probabilities are made;
            None: `ANSWERABLE`.
        by_answer: the clusters are wordings of answers, as of `wordings_of`.

    Raises:
        QprError: a file of the index cannot be read.
    """
    judged = judgements(clusters, limit=MOST_QUERIES)
    if missing := _missing_answers(clusters, judged) if by_answer else _missing_queries(len(judged)):
        return _unfitted(missing, by_answer)
    index = opened()
    counts = counts_of(index)
    with counting("learning confidence, queries", total=len(judged)) as show:
        if by_answer:
            gathered = examples_of_answers(index, clusters, judged, counts, on_queries=show)
        else:
            gathered = examples(index, judged, counts, on_queries=show)
    nearest = gathered.right[:, 0]
    if nearest.all() or not nearest.any():
        return _unfitted(f"the nearest question is {'right' if nearest.all() else 'wrong'} for every query", by_answer)
    share = answerable_share or ANSWERABLE
    try:
        models = [*fold_models(gathered, answerable_share=share)]
        measures = quality(out_of_fold(gathered, models), nearest, gathered.weights(share))
        content = to_json(Confidence(counts, learn(gathered, answerable_share=share), by_answer))
    except QprError as error:
        return _unfitted(str(error), by_answer)
    return FittedConfidence(
        [target.write(FILE, content, table=CONFIDENCE)],
        {"confidence_queries": len(judged)} | ({"confidence_answers": answers_of(clusters)} if by_answer else {}),
        {CONFIDENCE: {name: round(value, 4) for name, value in measures._asdict().items()}},
        [(out[: len(judged)], Confidence(counts, model, by_answer)) for out, model in models],
    )


def _unfitted(reason: str, by_answer: bool) -> FittedConfidence:
    table = "an index of the table that `qpr export` writes learns from the wordings of its answers instead"
    warn(f"no confidence model, so hits have no probability: {reason}{'' if by_answer else f'; {table}'}")
    return FittedConfidence([], {}, {})


def answers_of(wordings: pa.Table) -> int:
    """Return the number of different answers of `wordings_of`."""
    return len(wordings["answer"].unique())


def _missing_answers(wordings: pa.Table, judged: Judgements) -> str | None:
    """Return how many answers and wordings there are and are needed, None if they are enough.

    Args:
        wordings: as of `wordings_of`.
        judged: some of them.
    """
    answers, questions = answers_of(wordings), int(pc.sum(pc.list_value_length(wordings["question_ids"])).as_py() or 0)
    if answers >= LEAST_GROUPS and questions >= LEAST_QUERIES:
        apart = int(topics(wordings, judged).max()) + 1
        together = "answers with a common wording, as of several tenants, count once"
        return None if apart >= LEAST_GROUPS else f"{together}, {apart} in all; {LEAST_GROUPS} are needed"
    available = f"{counted(answers, 'answer')} with two wordings or more, {counted(questions, 'wording')} in all"
    return f"{available}; {LEAST_GROUPS} answers and {LEAST_QUERIES} wordings are needed"


def _missing_queries(count: int) -> str | None:
    """Return how many queries there are and are needed, None if they are enough."""
    if count >= LEAST_QUERIES:
        return None
    return f"{counted(count, 'query')} in split validation, {LEAST_QUERIES} are needed"


def counts_of(index: Index) -> WordCounts:
    """Return the number of questions with each word, of evenly spaced questions of an index."""
    step = -(-len(index) // COUNTED)
    rows = index.live_rows(np.arange(0, len(index), step))
    return WordCounts.of(key_all(index.questions(rows)["text"].combine_chunks()))
