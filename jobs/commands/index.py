"""``qpr index``: from questions and a model to FAISS shards that `qpr search` opens.

dataset or tables of questions, model -> index -> index
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.beam import beam_options
from jobs.options.columns import COLUMN, OlderColumn, column_names
from jobs.options.inputs import Delimiter, Encoding, input_files
from jobs.options.output import lasting


def index(
    context: typer.Context,
    questions: Annotated[
        list[str],
        typer.Option(metavar="PATH", help="Dataset, or files or globs: .parquet, .csv, .tsv, .jsonl; .gz, .zst."),
    ],
    model: Annotated[
        str, typer.Option(metavar="FOLDER", help="Model by `qpr train`, or st:FOLDER of sentence-transformers.")
    ],
    output: Annotated[
        str, typer.Option(callback=lasting, metavar="FOLDER", help="Folder of the index, any fsspec URL.")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of a file for one of question, answer, answer_id, cluster_id, events, such as question=title. "
            "Repeatable.",
            **COLUMN,
        ),
    ] = None,
    question_column: OlderColumn = None,
    text_column: OlderColumn = None,
    answer_column: OlderColumn = None,
    answer_id_column: OlderColumn = None,
    cluster_id_column: OlderColumn = None,
    events_column: OlderColumn = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    shards: Annotated[int, typer.Option(min=1, max=4096, metavar="N", help="Parts of the index.")] = 8,
    factory: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="FAISS index: Flat (exact) or with inverted lists, such as IVF2000,Flat.",
            show_default="by size; Flat under 10,000 questions",
        ),
    ] = None,
    probes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Inverted lists searched for a query.", show_default="10"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing index.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Encode questions and build a searchable index that holds its model.

    A file needs a column of questions and may have answer, answer_id, cluster_id (a 64-bit integer) and events.

    Examples:
      qpr index --questions dataset --model model --output index
      qpr index --questions faq.csv --model model --output index

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from jobs.workflows.indexing import build_index
    from pipelines.reading.index_inputs import COLUMNS, question_files

    options = beam_options(context)
    names = column_names(
        column,
        known=[known.name for known in COLUMNS],
        question=question_column or text_column,
        answer=answer_column,
        answer_id=answer_id_column,
        cluster_id=cluster_id_column,
        events=events_column,
    )
    build_index(
        question_files(
            questions,
            names,
            files_of=lambda url: input_files([url], delimiter=delimiter, encoding=encoding, example=""),
        ),
        model=model,
        output=output,
        overwrite=overwrite,
        shards=shards,
        factory=factory,
        probes=probes,
        options=options,
        as_json=as_json,
    )
