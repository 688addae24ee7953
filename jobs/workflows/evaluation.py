"""Evaluation of an index on a dataset, or of a model or index on a collection in the BEIR layout.

dataset, Searcher -> evaluate_index -> metrics, and perhaps files of TREC
BEIR folder, model -> evaluate_model -> the same; BEIR folder, Searcher -> evaluate_on_collection -> the same
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.display.console import progress_bar, say, warn
from model.encoders.loading import load_encoder
from model.evaluation.beir import Collection, judged_questions, read_beir, search
from model.evaluation.evaluator import measure, missing_questions, query_times, ranked_ids, summary
from model.evaluation.metrics import question_values, ranks
from model.evaluation.relevance import Judgements, judgements, with_row_ids
from model.evaluation.settings import Evaluation
from model.evaluation.trec_files import qrels_text, run_text
from model.index.index import Index
from model.index.ranking import Ranking
from model.search.searcher import Searcher
from pipelines.reading.index_inputs import values_of_dataset
from schemas.artifacts import conditional_writes
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Source, read_manifest
from schemas.errors import QprError
from schemas.quantities import counted

MISSING_SHARE = 0.05
"""With a larger share of paraphrases missing, the index was probably built from another dataset."""


@dataclasses.dataclass(frozen=True)
class _Part:
    """The rows of an index with some values of the columns that it varies by, as `model.evaluation` searches them."""

    searcher: Searcher
    filters: Mapping[str, str]

    @property
    def index(self) -> Index:
        return self.searcher.index

    def rank(self, texts: pa.Array | Sequence[str], k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        return self.searcher.rank(texts, k, exclude, filters=self.filters)


def evaluate_model(url: str, model: str, settings: Evaluation) -> dict[str, Any]:
    """Return the metrics of a model on a collection in the BEIR layout.

    Raises:
        QprError: the collection or the model cannot be read, or no judged document is in the collection.
    """
    collection, encoder = _read_collection(url, settings), load_encoder(model)
    say(f"encoding {counted(len(collection.documents), 'document')} for exact search")
    ranked = search(collection, encoder, depth=settings.depth)
    rank_of_judgement = ranks(ranked, queries=collection.judged, relevant=collection.relevant)
    count = len(collection.queries)
    values = question_values(rank_of_judgement, queries=collection.judged, count=count, grades=collection.grades)
    return {
        "beir": url,
        "split": settings.split,
        "queries": count,
        "documents": len(collection.documents),
        "judgements": len(collection.judged),
        "judgements_missing": collection.missing,
        "depth": settings.depth,
        **summary("per_question", values, np.arange(count)),
        "model": {"url": model, "model_digest": encoder.digest},
    }


def evaluate_on_collection(url: str, searcher: Searcher, settings: Evaluation) -> dict[str, Any]:
    """Return the metrics of an index of the documents of a collection in the BEIR layout, and its query times.

    Raises:
        QprError: the collection cannot be read, or the index contains no judged document or varies by columns.
    """
    collection, index = _read_collection(url, settings), searcher.index
    if columns := index.settings.vary_by:
        raise QprError(f"{index.url}: varies by {', '.join(columns)}, but {url} has no values. Index it without them")
    judged, grades = judged_questions(collection, index.row_id)
    missing = int(np.count_nonzero(index.rows_of(judged.relevant) < 0))
    if missing == len(judged.relevant):
        none = f"holds none of the {counted(missing, 'judged document')} of split {settings.split} of {url}"
        raise QprError(f"{index.url}: {none}. Index its corpus.jsonl with `qpr index --questions`")
    if missing:
        warn(f"{counted(missing, 'judged document')} not in {index.url}; counted as not found")
    with progress_bar() as bar:
        track = functools.partial(bar.track, description="search")
        ranked = ranked_ids(searcher, judged, depth=settings.depth, track=track)
    rank_of_judgement = ranks(ranked, queries=judged.queries, relevant=judged.relevant)
    values = question_values(rank_of_judgement, queries=judged.queries, count=len(judged), grades=grades)
    return {
        "beir": url,
        "split": settings.split,
        "queries": len(judged),
        "documents": len(collection.documents),
        "judgements": len(judged.queries),
        "judgements_missing": missing,
        "depth": settings.depth,
        **summary("per_question", values, np.arange(len(judged))),
        **query_times(searcher, judged),
        **_searched(searcher),
    }


def evaluate_index(
    dataset: str, searcher: Searcher, settings: Evaluation, *, trec: str | None = None, overwrite: bool = False
) -> dict[str, Any]:
    """Return the metrics of an index on the clusters of a split, and how long its queries take.

    An index that varies by columns is searched with the values that the folders of the dataset name.

    Args:
        dataset: URL of the dataset.
        searcher: of the index.
        settings: queries and number of hits.
        trec: beginning of the names of files for hits and judgements in the formats of TREC; None: none are written.
        overwrite: replace these files.

    Raises:
        QprError: the split has no cluster, the index contains no paraphrase of it, or the folders name no value.
    """
    index, columns = searcher.index, searcher.index.settings.vary_by or ()
    values = values_of_dataset(dataset, columns)
    clusters = with_row_ids(open_dataset(dataset).cluster_texts(settings.split), values)
    judged = judgements(clusters, limit=settings.limit)
    if not len(judged):
        raise QprError(
            f"{dataset}: no cluster in split {settings.split}, so no query. Use another --split or more data"
        )
    _report_missing(dataset, index, judged, split=settings.split)
    ranker = _Part(searcher, dict(zip(columns, values, strict=True)))
    if searcher.retrieval.mode == "exact":
        warn("mode exact finds the question itself alone, which never counts: all figures are 0. Give another --mode")
    with progress_bar() as bar:
        track = functools.partial(bar.track, description="search")
        ranked = ranked_ids(ranker, judged, depth=settings.depth, track=track)
    if trec:
        for name, text in zip(trec_names(trec), (run_text(judged, ranked), qrels_text(judged)), strict=True):
            conditional_writes.write_result(name, text.encode(), overwrite=overwrite, option="--trec")
    return {
        "dataset": dataset,
        "split": settings.split,
        **measure(index, judged, ranked),
        **query_times(ranker, judged),
        **_searched(searcher),
        "queries_seen_in_training": _report_seen_queries(dataset, searcher, split=settings.split),
    }


def trec_names(trec: str) -> tuple[str, str]:
    """Return the names of the files for hits and for judgements that ``--trec`` names."""
    return f"{trec}.run", f"{trec}.qrels"


def _read_collection(url: str, settings: Evaluation) -> Collection:
    """Return a collection, after a warning of judged documents that it does not contain.

    Raises:
        QprError: it cannot be read, or contains no judged document.
    """
    collection = read_beir(url, split=settings.split)
    if collection.missing == len(collection.judged):
        raise QprError(
            f"{url}: none of the {counted(collection.missing, 'judged document')} of split {settings.split} is in "
            "corpus.jsonl. Check that the files belong together"
        )
    if collection.missing:
        warn(f"{counted(collection.missing, 'judged document')} not in corpus.jsonl; counted as not found")
    return collection


def _searched(searcher: Searcher) -> dict[str, Any]:
    """Return the index and the way of searching that figures belong to."""
    index, retrieval = searcher.index, searcher.retrieval
    return {
        "index": {"url": index.url, **index.settings.model_dump(), "probes": index.probes},
        "mode": retrieval.mode,
        **({"reranker": retrieval.reranker.url} if retrieval.reranker else {}),
    }


def _report_missing(dataset: str, index: Index, judged: Judgements, *, split: str) -> None:
    """Report how many paraphrases are not in the index, and what it was built from where they are many.

    Raises:
        QprError: the index holds none of them.
    """
    relevant, missing = missing_questions(index, judged)
    count = f"{len(missing):,} of {counted(len(relevant), 'paraphrase')} of split {split}"
    built = f"It was built from {_built_from(index)}, and {_named(dataset, open_dataset(dataset).manifest.digest)}"
    if len(missing) == len(relevant):
        raise QprError(
            f"{index.url}: holds none of the questions of split {split} of {dataset}. {built} is evaluated. "
            "Use the --dataset it was built from, or index this one with `qpr index`"
        )
    if len(missing) > MISSING_SHARE * len(relevant):
        share = f"{count} ({100 * len(missing) / len(relevant):.0f} %) are not in {index.url}; they count as not found"
        warn(f"{share}. {built} is evaluated")
    elif len(missing):
        say(f"{count} are not in the index; they count as not found")


def _report_seen_queries(dataset: str, searcher: Searcher, *, split: str) -> bool:
    """Return True, after a warning, if the way of searching learned from the queries that it is measured by.

    Rerankers and confidence models learn from the validation split of the datasets among their inputs.
    """
    retrieval = searcher.retrieval
    if retrieval.reranker:
        learner = f"reranker {retrieval.reranker.url}"
        sources = read_manifest(retrieval.reranker.url, "reranker").inputs
    elif retrieval.mode == "probability":
        learner, sources = f"confidence model of {retrieval.index.url}", _sources_of(retrieval.index)
    else:
        return False
    digest = open_dataset(dataset).manifest.digest
    if split != "validation" or digest not in {source.digest for source in sources}:
        return False
    warn(
        f"the figures are too good: the {learner} learned from the validation queries of {_named(dataset, digest)}. "
        "Use --split test for figures of new queries"
    )
    return True


def _built_from(index: Index) -> str:
    """Return the names of what an index was built from and changed by."""
    return ", ".join(_named(source.url, source.digest) for source in _sources_of(index))


def _sources_of(index: Index) -> list[Source]:
    """Return the inputs of the build of an index and of its last change, but for the model, which is the last one."""
    return [*(index.settings.built_from or ()), *read_manifest(index.url, "index").inputs[:-1]]


def _named(url: str, digest: str | None) -> str:
    return f"{url} (digest {digest[:12]})" if digest else url
