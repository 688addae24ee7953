"""``qpr index``: from questions and a model to FAISS shards that `qpr search` opens.

dataset or tables of questions, model -> index -> index
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.beam import beam_options
from jobs.options.output import AsJson, OutputFolder, Overwrite, folder
from pipelines.graphs.settings import IndexConfig


def index(
    context: typer.Context,
    questions: Annotated[
        list[str],
        typer.Option(metavar="PATH", help="Dataset, or files or globs: .parquet, .csv, .tsv, .jsonl; .gz, .zst."),
    ],
    model: Annotated[str, folder("Model by `qpr train`, or st:FOLDER of sentence-transformers.")],
    output: OutputFolder,
    settings: IndexConfig,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Encode questions and build a searchable index that holds its model.

    A file needs a column of questions and may have answer, answer_id, cluster_id (a 64-bit integer) and events.

    Examples:
      qpr index --questions dataset --model model --output index
      qpr index --questions faq.csv --model model --output index

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from jobs.workflows.indexing import build_index

    options = beam_options(context)
    build_index(questions, settings, model=model, output=output, overwrite=overwrite, options=options, as_json=as_json)
