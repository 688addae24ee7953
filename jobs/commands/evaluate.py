"""``qpr evaluate``: how well an index finds the paraphrases of a split, or a model the documents of a collection.

dataset and index, or BEIR folder and model -> ranked ids -> H@1, H@10, MRR, nDCG@10
"""

from __future__ import annotations

import dataclasses
import json
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import rich.table
import typer

from jobs.display.console import emit, progress_bar, say, warn
from jobs.options.output import lasting
from jobs.workflows.missing_questions import missing_questions, warn_of_missing
from schemas.artifacts import conditional_writes
from schemas.artifacts.dataset import open_dataset
from schemas.errors import QprError, UsageError
from schemas.quantities import counted

if TYPE_CHECKING:
    import numpy as np

    from model.evaluation.relevance import Judgements
    from model.index.index import Index

BATCH = 256
"""Queries searched together."""

TIMED = 500
"""Most queries whose time is taken, one at a time."""

TIMED_MS = 10_000
"""After this long no further query is timed: exact search of lists takes 0.1 s a query at Quora's size."""


class HeldOut(StrEnum):
    """The splits no model was trained on."""

    VALIDATION = "validation"
    TEST = "test"


def evaluate(
    dataset: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Dataset with the clusters of paraphrases.")
    ] = None,
    index: Annotated[str | None, typer.Option(metavar="FOLDER", help="Index to search.")] = None,
    beir: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Instead: corpus.jsonl, queries.jsonl and qrels/test.tsv.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="With --beir: model that encodes the texts.")
    ] = None,
    split: Annotated[
        HeldOut, typer.Option(metavar="NAME", help="Split with the queries: validation or test.")
    ] = HeldOut.TEST,
    depth: Annotated[
        int, typer.Option(min=10, max=10_000, metavar="N", help="Hits per query; a paraphrase below is not found.")
    ] = 100,
    probes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Lists searched.", show_default="the index's"),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Search all lists.")] = False,
    rerank: Annotated[str | None, typer.Option(metavar="FOLDER", help="Reranker of the index.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum queries, a fixed sample.", show_default="all")
    ] = None,
    output: Annotated[
        str | None, typer.Option(callback=lasting, metavar="FILE", help="JSON file to write the result to as well.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Measure where the paraphrases of a split's questions rank.

    A question never finds itself. Per question its best paraphrase counts; per pair each one counts, ranked without the
    others. A collection in the BEIR layout is encoded and searched exactly, and its grades count.

    Examples:
      qpr evaluate --dataset dataset --split test --index index
      qpr evaluate --beir beir/quora --model model
    """
    if output:
        conditional_writes.refuse_existing(output, overwrite=overwrite)
    if dataset and index and not (beir or model):
        from model.search.opening import open_index

        opened = open_index(index, probes=probes, exact=exact, rerank=rerank)
        result = of_index(dataset, opened, split=split, depth=depth, limit=limit)
    elif beir and model and not (dataset or index or rerank):
        result = of_beir(beir, model, split=split, depth=depth)
    else:
        raise UsageError("give --dataset and --index, or --beir and --model; --rerank needs --index")
    if output:
        content = json.dumps(result, ensure_ascii=False, indent=2).encode() + b"\n"
        conditional_writes.write_result(output, content, overwrite=overwrite)
    emit(result, as_json=as_json, table=lambda: _table(result))


def of_beir(url: str, model: str, *, split: HeldOut, depth: int) -> dict[str, Any]:
    """Return the metrics of a model on a collection in the BEIR layout."""
    from model.encoders.registry import load_encoder
    from model.evaluation.beir import read_beir, search
    from model.evaluation.metrics import per_question, ranks

    collection, encoder = read_beir(url, split=split.value), load_encoder(model)
    if collection.missing:
        warn(f"{counted(collection.missing, 'judged document')} not in corpus.jsonl; counted as not found")
    say(f"encoding {counted(len(collection.documents), 'document')} for exact search")
    found = ranks(search(collection, encoder, depth=depth), queries=collection.judged, relevant=collection.relevant)
    count = len(collection.queries)
    metrics = per_question(found, queries=collection.judged, count=count, grades=collection.grades)
    return {
        "beir": url,
        "split": split.value,
        "queries": count,
        "documents": len(collection.documents),
        "judgements": len(collection.judged),
        "judgements_missing": collection.missing,
        "depth": depth,
        "per_question": dataclasses.asdict(metrics),
        "model": {"url": model, "model_digest": encoder.digest},
    }


def of_index(dataset: str, index: Index, *, split: HeldOut, depth: int, limit: int | None) -> dict[str, Any]:
    """Return the metrics of an index on the clusters of a split, and how long its queries take."""
    from model.evaluation.relevance import judgements

    table = open_dataset(dataset).table("clusters", columns=["question_ids", "texts"], split=split.value)
    judged = judgements(table, limit=limit)
    if not len(judged):
        raise QprError(f"{dataset}: no cluster in split {split.value}, so no query. Use another --split or more data")
    warn_of_missing(dataset, index, judged, split=split.value)
    return {
        "dataset": dataset,
        "split": split.value,
        **measure(index, judged, depth=depth),
        **query_times(index, judged),
        "index": {"url": index.url, **index.settings.model_dump(), "probes": index.probes},
        **({"reranker": index.reranker.url} if index.reranker else {}),
    }


def measure(index: Index, judged: Judgements, *, depth: int) -> dict[str, Any]:
    """Return the metrics per question and per pair, and how many questions went into them."""
    from model.evaluation.metrics import per_pair, per_question, ranks

    found = ranks(ranked_ids(index, judged, depth=depth), queries=judged.queries, relevant=judged.relevant)
    relevant, missing = missing_questions(index, judged)
    return {
        "queries": len(judged),
        "pairs": len(judged.queries),
        "relevant": len(relevant),
        "relevant_missing": len(missing),
        "depth": depth,
        "per_question": dataclasses.asdict(per_question(found, queries=judged.queries, count=len(judged))),
        "per_pair": dataclasses.asdict(per_pair(found, queries=judged.queries)),
    }


def ranked_ids(index: Index, judged: Judgements, *, depth: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the ids every query finds, its own left out: (queries, depth), padded with -1."""
    import numpy as np

    found = np.full((len(judged), depth), -1, np.int64)
    with progress_bar() as bar:
        for start in bar.track(range(0, len(judged), BATCH), description="search"):
            part = slice(start, start + BATCH)
            texts = judged.texts.slice(start, BATCH)
            found[part] = index.rank(texts, depth, exclude=judged.ids[part]).ids
    return found


def query_times(index: Index, judged: Judgements, *, most: int = TIMED, k: int = 20) -> dict[str, Any]:
    """Return mean and 95th percentile of milliseconds a query, encoding included, one query at a time.

    The queries are the first ``most``, in the order of their hashes, or fewer where they take over `TIMED_MS`.
    """
    import numpy as np

    texts = judged.texts.slice(0, most).to_pylist()
    index.rank(texts[:1], k)
    milliseconds: list[float] = []
    for text in texts:
        if sum(milliseconds) > TIMED_MS:
            break
        start = time.perf_counter()
        index.rank([text], k)
        milliseconds.append(1_000 * (time.perf_counter() - start))
    mean, p95 = float(np.mean(milliseconds)), float(np.percentile(milliseconds, 95))
    return {"timed_queries": len(milliseconds), "mean_ms": round(mean, 3), "p95_ms": round(p95, 3)}


def _table(result: dict[str, Any]) -> rich.table.Table:
    if "beir" in result:
        documents = counted(result["documents"], "document")
        title = f"{result['split']}: {counted(result['queries'], 'query')}, {documents}, exact search"
    else:
        used = result["index"]
        lists = f", {counted(used['probes'], 'probe')}" if used["probes"] else ""
        title = (
            f"{result['split']}: {counted(result['queries'], 'query')}, {counted(result['pairs'], 'pair')}, "
            f"{used['questions']:,} indexed\n"
            f"{used['factory']}{lists}, {result['mean_ms']:.2f} ms a query (95 %: {result['p95_ms']:.2f})"
        )
    table = rich.table.Table("", "H@1", "H@10", "MRR", "nDCG@10", title=title, title_justify="left")
    for name in ("per_question", "per_pair"):
        if name in result:
            table.add_row(name.replace("_", " "), *(f"{value:.4f}" for value in result[name].values()))
    return table
