"""``qpr index``: from questions and a model to FAISS shards that `qpr search` opens, and changes of such an index.

dataset or tables of questions, model -> index -> index
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.beam import beam_options
from jobs.options.inputs import MaxUnreadableRatio
from jobs.options.output import AsJson, DryRun, OutputFolder, Overwrite
from pipelines.graphs.settings import IndexConfig

_CHANGES = "Changes of an index"


def index(
    context: typer.Context,
    output: OutputFolder,
    *,
    questions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="Dataset, file or glob: .parquet, .csv, .tsv, .jsonl; .gz, .zst. Repeatable."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Model by `qpr train`, or st:FOLDER of sentence-transformers.")
    ] = None,
    settings: IndexConfig,
    overwrite: Overwrite = False,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Questions to add or replace, from the same kinds of files as --questions. Repeatable.",
            rich_help_panel=_CHANGES,
        ),
    ] = None,
    delete: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="File with the questions to delete, in a column question_id or question. Repeatable.",
            rich_help_panel=_CHANGES,
        ),
    ] = None,
    compact: Annotated[
        bool, typer.Option("--compact", help="Merge segments, drop deleted rows.", rich_help_panel=_CHANGES)
    ] = False,
    max_reject_ratio: MaxUnreadableRatio = 0.1,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Encode questions and build a searchable index that holds its model, or change one.

    A file needs a column of questions and may have answer, answer_id, cluster_id (a 64-bit integer) and events. With
    --vary-by, a question can have an answer for each value, and a search finds only rows with the values that it names.
    Folders name those of a dataset: data/locale=de.

    Examples:
      qpr index --questions dataset --model encoder --output index
      qpr index --questions faq.csv --model encoder --output index
      qpr index --questions dataset --model encoder --output index --recall 0.99
      qpr index --questions dataset --model encoder --output index --preset paper
      qpr index --questions faq.csv --model m --output i --memory-mb 900 --dry-run
      qpr index --questions faq.csv --model m --output i --vary-by locale
      qpr index --questions 'data/*' --model m --output i --vary-by locale
      qpr index --output index --add new.csv --delete old.csv
      qpr index --output index --compact

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from jobs.workflows.index_changes.request import IndexRequest

    options = beam_options(context)
    changes = add or [], delete or [], compact
    request = IndexRequest(questions or [], model, overwrite, *changes, max_reject_ratio, dry_run)
    request.run(output, settings, options=options, as_json=as_json)
