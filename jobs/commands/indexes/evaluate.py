"""``qpr evaluate``: how well an index finds the paraphrases of a split, or a model the documents of a collection.

dataset and index, version of a warehouse, or BEIR folder and model -> ranked ids -> H@1, H@10, MRR, nDCG@10
"""

from __future__ import annotations

import json
from typing import Annotated

from jobs.display.console import emit
from jobs.options.output import AsJson, Overwrite, file_to_write, folder
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
    model: Annotated[str | None, folder("With --beir: model that encodes the texts.")] = None,
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

    With --warehouse the index of a version is measured on its own dataset, or on that of --dataset.

    Examples:
      qpr evaluate --dataset dataset --split test --index index
      qpr evaluate --warehouse warehouse --at 41 --split test
      qpr evaluate --beir beir/quora --model model
    """
    from jobs.workflows.evaluation import evaluate_index, evaluate_model, metrics_table
    from jobs.workflows.warehouses.version_reading import Readable
    from model.search.searcher import open_searcher

    if output:
        conditional_writes.refuse_existing(output, overwrite=overwrite)
    if (warehouse or (dataset and index)) and not (beir or model):
        with Readable(index, None, warehouse, at).held() as read:
            searcher = open_searcher(read.index_url, **dict(opening))
            result = evaluate_index(dataset or read.dataset or "", searcher, settings)
    elif beir and model and not (dataset or index or warehouse or at or opening.model_fields_set or settings.limit):
        result = evaluate_model(beir, model, settings)
    else:
        places = "--dataset and --index, or --warehouse, or --beir and --model"
        of_index = "--mode, --probes, --rerank, --verify, --exact and --limit"
        raise UsageError(f"give {places}; {of_index} need an index, --at a warehouse")
    if output:
        content = json.dumps(result, ensure_ascii=False, indent=2).encode() + b"\n"
        conditional_writes.write_result(output, content, overwrite=overwrite)
    emit(result, as_json=as_json, table=lambda: metrics_table(result))
