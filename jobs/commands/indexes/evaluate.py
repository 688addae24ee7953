"""``qpr evaluate``: how well an index finds the paraphrases of a split, or a model the documents of a collection.

dataset and index, version of a warehouse, or BEIR folder and model -> ranked ids -> H@1, H@10, MRR, nDCG@10
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from jobs.display.console import emit
from jobs.options.output import AsJson, Overwrite, file_to_write, folder, model_to_read
from jobs.options.warehouse import VersionAt, VersionWarehouse
from model.evaluation.settings import Evaluation
from model.search.settings import ExactOpening
from schemas.artifacts import conditional_writes
from schemas.errors import UsageError


def evaluate(
    dataset: Annotated[str | None, folder("Dataset with the clusters of paraphrases.")] = None,
    index: Annotated[str | None, folder("Index to search.")] = None,
    warehouse: VersionWarehouse = None,
    at: VersionAt = None,
    beir: Annotated[str | None, folder("Instead: corpus.jsonl, queries.jsonl and qrels/test.tsv.")] = None,
    model: Annotated[str | None, model_to_read("With --beir: model that encodes the texts, or st:FOLDER.")] = None,
    *,
    settings: Evaluation,
    opening: ExactOpening,
    output: Annotated[str | None, file_to_write("JSON file to write the result to as well.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Measure where the paraphrases of a split's questions rank.

    A question never finds itself. Per question its best paraphrase counts; per pair each one counts, ranked without the
    others. A collection in the BEIR layout is encoded and searched exactly, and its grades count.

    A reranker, and the confidence model of mode probability, learn from the validation split. Their figures on that
    split are too good; a warning reports it, and queries_seen_in_training of --json is true.

    With --warehouse the index of a version is measured on its own dataset, or on that of --dataset.

    Examples:
      qpr evaluate --dataset dataset --split test --index index
      qpr evaluate --warehouse warehouse --at 41 --split test
      qpr evaluate --beir beir/quora --model model
    """
    from jobs.workflows.evaluation import evaluate_index, evaluate_model, metrics_table
    from jobs.workflows.warehouses.version_reading import Readable
    from model.search.searcher import open_searcher

    of_index = {"--dataset": dataset, "--index": index, "--warehouse": warehouse, "--at": at, "--limit": settings.limit}
    of_index |= {f"--{name}": value for name, value in opening.model_dump(exclude_unset=True).items()}
    _check_places(of_index, beir, model)
    if output:
        conditional_writes.refuse_existing(output, overwrite=overwrite)
    if beir and model:
        result = evaluate_model(beir, model, settings)
    else:
        with Readable(index, None, warehouse, at).held() as read:
            searcher = open_searcher(read.index_url, **dict(opening))
            result = evaluate_index(dataset or read.dataset or "", searcher, settings)
    if output:
        content = json.dumps(result, ensure_ascii=False, indent=2).encode() + b"\n"
        conditional_writes.write_result(output, content, overwrite=overwrite)
    emit(result, as_json=as_json, table=lambda: metrics_table(result))


def _check_places(of_index: Mapping[str, Any], beir: str | None, model: str | None) -> None:
    """Refuse places that are not enough for an evaluation, and those of another kind of evaluation.

    Args:
        of_index: options of an evaluation of an index, and their values.
        beir: folder of a collection.
        model: that encodes it.

    Raises:
        UsageError: an option is missing, or has no use; the message names it.
    """
    if beir:
        for option, value in of_index.items():
            if value:
                raise UsageError(f"{option}: has no use with --beir, which has a collection of its own. Leave it out")
        if not model:
            raise UsageError("--model is missing: give the model that encodes the texts of --beir")
        return
    if model:
        raise UsageError("--model: has no use without --beir; an index holds its model. Leave it out")
    if not of_index["--warehouse"]:
        if not (of_index["--index"] or of_index["--dataset"]):
            raise UsageError("give --dataset and --index, or --warehouse, or --beir and --model")
        if not of_index["--dataset"]:
            raise UsageError("--dataset is missing: give the dataset whose split is searched, or --warehouse")
        if not of_index["--index"]:
            raise UsageError("--index is missing: give the index to search, or --warehouse")
