"""``qpr evaluate``: how well an index finds the paraphrases of a split, or documents of a collection, as a model does.

dataset and index, version of a warehouse, or BEIR folder and model or index -> ranked ids -> H@1, H@10, MRR, nDCG@10
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from jobs.display.console import emit
from jobs.options.output import AsJson, Overwrite, file_to_write, folder, model_to_read
from jobs.options.warehouse import VersionAt, VersionWarehouse
from model.choices import WITHOUT_VECTORS, Mode
from model.evaluation.settings import Evaluation
from model.search.settings import ExactOpening
from schemas.artifacts import conditional_writes
from schemas.errors import UsageError


def evaluate(
    dataset: Annotated[str | None, folder("Dataset with the clusters of paraphrases.")] = None,
    index: Annotated[str | None, folder("Index to search.")] = None,
    warehouse: VersionWarehouse = None,
    at: VersionAt = None,
    beir: Annotated[str | None, folder("Instead of a dataset: corpus.jsonl, queries.jsonl and qrels/test.tsv.")] = None,
    model: Annotated[
        str | None, model_to_read("With --beir, instead of --index: model that encodes the texts, or st:FOLDER.")
    ] = None,
    *,
    settings: Evaluation,
    opening: ExactOpening,
    output: Annotated[str | None, file_to_write("JSON file to write the result to as well.")] = None,
    trec: Annotated[
        str | None, file_to_write("Write hits to FILE.run and judgements to FILE.qrels, as trec_eval reads them.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Measure where the paraphrases of a split's questions rank.

    A question never finds itself. Per question its best paraphrase counts; per pair each one counts, ranked without the
    others.

    Of a collection in the BEIR layout the grades count. With --model it is encoded and searched exactly. With --index
    its queries are searched in an index of its documents, in any mode.

    A reranker, and the confidence model of mode probability, learn from the validation split. Their figures on that
    split are too good; a warning reports it, and queries_seen_in_training of --json is true.

    With --warehouse the index of a version is measured on its own dataset, or on that of --dataset.

    Without --mode the mode of the index is measured, often by words too; --mode dense measures the encoder alone.

    Examples:
      qpr evaluate --dataset dataset --split test --index index
      qpr evaluate --dataset dataset --index index --mode dense --exact
      qpr evaluate --dataset dataset --index index --trec ours
      qpr evaluate --warehouse warehouse --at 41 --split test
      qpr evaluate --beir beir/quora --model encoder
      qpr evaluate --beir beir/quora --index index-of-its-documents --mode bm25
    """
    from jobs.display.terminal_tables import metrics_table
    from jobs.workflows.evaluation import evaluate_index, evaluate_model, evaluate_on_collection, trec_names
    from jobs.workflows.warehouses.version_reading import Readable
    from model.search.searcher import open_searcher

    places = {"--dataset": dataset, "--warehouse": warehouse, "--at": at, "--limit": settings.limit, "--trec": trec}
    opened = {f"--{name}": value for name, value in opening.model_dump(exclude_unset=True).items()}
    if beir:
        _check_collection(places, opened, index, model)
    else:
        _check_places(places, index, model)
    if output:
        conditional_writes.refuse_existing(output, overwrite=overwrite)
    for name in trec_names(trec) if trec else ():
        conditional_writes.refuse_existing(name, overwrite=overwrite, option="--trec")
    if beir and model:
        result = evaluate_model(beir, model, settings)
    else:
        with Readable(index, None, warehouse, at).held() as read:
            searcher = open_searcher(read.index_url, **dict(opening))
            _check_vectors(opened, searcher.retrieval.mode)
            if beir:
                result = evaluate_on_collection(beir, searcher, settings)
            else:
                judged = dataset or read.dataset or ""
                result = evaluate_index(judged, searcher, settings, trec=trec, overwrite=overwrite)
    if output:
        content = json.dumps(result, ensure_ascii=False, indent=2).encode() + b"\n"
        conditional_writes.write_result(output, content, overwrite=overwrite)
    emit(result, as_json=as_json, table=lambda: metrics_table(result))


def _check_collection(
    places: Mapping[str, Any], opened: Mapping[str, Any], index: str | None, model: str | None
) -> None:
    """Refuse options that have no use with a collection, and another number of an index and a model than one.

    Args:
        places: options of an evaluation on a dataset, and their values.
        opened: options of the opening of an index, and their values.
        index: of the documents of the collection.
        model: that encodes them.

    Raises:
        UsageError: the message names the option.
    """
    for option, value in places.items():
        if value:
            raise UsageError(f"{option}: has no use with --beir, which has a collection of its own. Leave it out")
    if not (index or model):
        raise UsageError("--model is missing: give the model that encodes the texts of --beir, or --index")
    if index and model:
        raise UsageError("--model: has no use with --index; an index holds its model. Leave one of them out")
    for option, value in opened.items():
        if value and model:
            raise UsageError(f"{option}: has no use with --beir and --model. Give --index in place of --model")


def _check_vectors(opened: Mapping[str, Any], mode: Mode) -> None:
    """Refuse options of a search by vectors where the mode, which may be that of the index, compares no vectors.

    Without this, figures of BM25 read like those of an exact search with the encoder.

    Raises:
        UsageError: the message names the option and the mode.
    """
    for option in ("--exact", "--probes"):
        if opened.get(option) and mode in WITHOUT_VECTORS:
            its = "" if opened.get("--mode") else ", the default of the index"
            raise UsageError(
                f"{option}: has no use with mode {mode}{its}, which compares no vectors. Give --mode dense, or leave "
                f"{option} out"
            )


def _check_places(places: Mapping[str, Any], index: str | None, model: str | None) -> None:
    """Refuse places that are not enough for an evaluation on a dataset, and a model.

    Args:
        places: options of an evaluation on a dataset, and their values.
        index: that is searched.
        model: that encodes a collection.

    Raises:
        UsageError: the message names the option.
    """
    if model:
        raise UsageError("--model: has no use without --beir; an index holds its model. Leave it out")
    if not places["--warehouse"]:
        if not (index or places["--dataset"]):
            raise UsageError("give --dataset and --index, or --warehouse, or --beir and --model or --index")
        if not places["--dataset"]:
            raise UsageError("--dataset is missing: give the dataset whose split is searched, or --warehouse")
        if not index:
            raise UsageError("--index is missing: give the index to search, or --warehouse")
