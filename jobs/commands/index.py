"""``qpr index``: from questions and a model to FAISS shards that `qpr search` opens.

dataset or tables of questions, model -> index -> index
"""

from __future__ import annotations

import collections
import json
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.display.console import emit, say, two_columns, working
from jobs.options.beam import beam_options
from jobs.options.columns import COLUMN, OlderColumn, column_names
from jobs.options.inputs import Delimiter, Encoding, input_files
from jobs.options.output import lasting
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    from jobs.indexing.indexed_model import IndexedModel
    from jobs.indexing.pipeline import IndexJob
    from jobs.indexing.question_files import QuestionInputs
    from schemas.artifacts.manifest import Manifest


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
    from jobs.indexing.indexed_model import IndexedModel
    from jobs.indexing.pipeline import IndexJob, build
    from jobs.indexing.question_files import COLUMNS, DatasetFile, ignored_notes, question_files
    from jobs.workflows.worker_encoder import WorkerEncoder
    from model.index.shards import check_questions, new_index
    from pipelines.engine.runner import run

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
    inputs = question_files(
        questions,
        names,
        files_of=lambda url: input_files([url], delimiter=delimiter, encoding=encoding, example=""),
    )
    for note in ignored_notes(inputs):
        say(note)
    indexed_model = IndexedModel.of(model)
    if factory is not None:
        new_index(factory, indexed_model.dimension)
        if all(isinstance(file, DatasetFile) for file in inputs.files):  # datasets, whose manifests count them
            check_questions(factory, sum(file.file.rows for file in inputs.files if isinstance(file, DatasetFile)))
    message = f"Indexing {counted(len(inputs.files), 'file')} of questions in {counted(shards, 'shard')}"
    with Output(output, "index", overwrite=overwrite) as target, working(message):
        job = IndexJob(target.run_url, WorkerEncoder(model, indexed_model.digest), shards, factory)
        run(lambda pipeline: build(pipeline, files=inputs.files, job=job), options)
        manifest = _publish(target, job, model=indexed_model, inputs=inputs, probes=probes)
    _show(output, manifest, ignored=inputs.ignored_columns, as_json=as_json)


def _publish(
    target: Output, job: IndexJob, *, model: IndexedModel, inputs: QuestionInputs, probes: int | None
) -> Manifest:
    """Make what the workers wrote the index, the model beside it."""
    from model.index.index import IndexSettings
    from model.index.shards import PROBES, lists_of

    files, counters = _report(target.run_url)
    if not counters["questions_indexed"]:
        where = ", ".join(source.url for source in inputs.sources)
        raise QprError(f"{where}: no question with a word to index{_reasons(counters)}. Check --questions")
    factory = job.factory_for(counters["questions_indexed"])
    settings = IndexSettings(
        model_digest=job.model.digest,
        factory=factory,
        probes=min(probes or PROBES, lists_of(factory)),
        dimension=model.dimension,
        questions=counters["questions_indexed"],
        shards=job.shards,
        distance=model.distance,
        model_url=model.outside,
    )
    return target.publish(
        [*files, *model.copy_to(target)],
        inputs=[*inputs.sources, Source(url=job.model.url, digest=job.model.digest)],
        configuration=settings.model_dump(exclude_none=True),
        counters=counters | {"columns_ignored": len(inputs.ignored_columns)},
    )


def _report(run_url: str) -> tuple[list[File], dict[str, int]]:
    """Return the files and counters that the workers reported, and remove the report."""
    from jobs.indexing.pipeline import REPORT

    records = json.loads(storage.read_bytes(storage.join(run_url, REPORT)))
    storage.delete(storage.join(run_url, REPORT))
    files = [File(**record) for record in records if "path" in record]
    counters = collections.Counter(
        dict.fromkeys(("questions_read", "questions_rejected", "questions_merged", "questions_indexed"), 0)
    )
    for record in records:
        if "path" not in record:
            counters.update(record)
    turned_away = counters["questions_merged"] + counters["questions_rejected"]
    assert counters["questions_read"] == counters["questions_indexed"] + turned_away, counters
    return files, dict(counters)


def _show(url: str, manifest: Manifest, *, ignored: list[str], as_json: bool) -> None:
    result: dict[str, Any] = {
        "index": url,
        "digest": manifest.digest,
        "seconds": manifest.seconds,
        "counters": manifest.counters,
        "ignored_columns": ignored,
        "configuration": manifest.configuration,
    }
    for note in _notes(manifest.counters):
        say(note)
    rows = {**manifest.counters, "factory": manifest.configuration["factory"], "seconds": manifest.seconds}
    emit(result, as_json=as_json, table=lambda: two_columns(url, rows))
    say(f'Next: qpr search --index {shlex.quote(url)} "how do I pay my bill"')


def _notes(counters: dict[str, int]) -> Iterator[str]:
    """Yield a line for a person about each thing of the input that is not in the index."""
    if rejected := counters["questions_rejected"]:
        yield f"{rejected:,} rows are not indexed{_reasons(counters)}; they are in the index's table rejected"
    if others := counters.get("rejected_merge_other_answer"):
        yield (
            f"{others:,} rows have another answer to a question than the one indexed, the most frequent; they are in "
            "the index's table rejected"
        )
    for column in ("cluster_id", "events"):
        if unreadable := counters.get(f"unreadable_{column}"):
            yield f"{unreadable:,} values of {column} are no 64-bit integer; these questions are indexed without it"


def _reasons(counters: dict[str, int]) -> str:
    """Return how many rows were rejected for which reason, in brackets; nothing if none was."""
    found = [
        f"{count:,} {name.split('_', 2)[2]}"
        for name, count in sorted(counters.items())
        if name.startswith(("rejected_read_", "rejected_validate_"))
    ]
    return f" ({', '.join(found)})" if found else ""
