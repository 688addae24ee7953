"""``qpr index``: from questions and a model to FAISS shards that `qpr search` opens.

dataset or Parquet files, model -> index -> index
"""

from __future__ import annotations

import collections
import json
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.beam_options import beam_options
from jobs.console import emit, say, two_columns, working
from schemas import storage
from schemas.errors import QprError
from schemas.manifest import File, Source
from schemas.output import Output
from schemas.quantities import counted

if TYPE_CHECKING:
    from jobs.indexed_model import IndexedModel
    from jobs.indexing import IndexJob
    from schemas.manifest import Manifest


def index(
    context: typer.Context,
    questions: Annotated[list[str], typer.Option(help="Dataset, or Parquet files or globs; may be repeated.")],
    model: Annotated[
        str,
        typer.Option(help="Model that encodes the questions, from `qpr train`; or st:FOLDER of sentence-transformers."),
    ],
    output: Annotated[str, typer.Option(help="Folder of the index, any fsspec URL.")],
    text_column: Annotated[str, typer.Option(help="Column of the Parquet files that holds the question.")] = "text",
    shards: Annotated[int, typer.Option(min=1, max=4096, help="Parts of the index, each built by one worker.")] = 8,
    factory: Annotated[
        str | None,
        typer.Option(
            help="FAISS index: Flat is exact, IVF2000,Flat has 2,000 lists of which a query searches --probes. "
            "Default by size: Flat under 10,000 questions."
        ),
    ] = None,
    probes: Annotated[
        int | None,
        typer.Option(min=1, help="Lists searched for a query, 10 by default; as many as there are is exact."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the index that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Encode every question and build a searchable index that holds its model too.

    Example: qpr index --questions dataset --model model --output index

    Options of Apache Beam follow after --, for example: -- --runner=FlinkRunner --flink_master=host:8081
    """
    from jobs.indexed_model import IndexedModel
    from jobs.indexing import IndexJob, build
    from jobs.question_tables import question_files
    from jobs.worker_encoder import WorkerEncoder
    from model.shards import check_questions, new_index
    from pipelines.runner import run

    options = beam_options(context)
    files, sources = question_files(questions, text_column=text_column)
    encoding = IndexedModel.of(model)
    if factory is not None:
        new_index(factory, encoding.dimension)
        if all(file.file for file in files):  # a dataset, whose manifest counts them
            check_questions(factory, sum(file.file.rows for file in files if file.file))
    message = f"Indexing {counted(len(files), 'file')} of questions in {counted(shards, 'shard')}"
    with Output(output, "index", overwrite=overwrite) as target, working(message):
        job = IndexJob(target.run_url, WorkerEncoder(model, encoding.digest), shards, factory)
        run(lambda pipeline: build(pipeline, files=files, job=job), options)
        manifest = _publish(target, job, model=encoding, inputs=sources, probes=probes)
    _show(output, manifest, as_json=as_json)


def _publish(
    target: Output, job: IndexJob, *, model: IndexedModel, inputs: list[Source], probes: int | None
) -> Manifest:
    """Make what the workers wrote the index, the model beside it."""
    from model.index import IndexSettings
    from model.shards import PROBES, lists_of

    files, counters = _report(target.run_url)
    if not files:
        raise QprError(f"{', '.join(i.url for i in inputs)}: no question with a word to index. Check --questions")
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
        inputs=[*inputs, Source(url=job.model.url, digest=job.model.digest)],
        configuration=settings.model_dump(exclude_none=True),
        counters=counters,
    )


def _report(run_url: str) -> tuple[list[File], dict[str, int]]:
    """Return the files and counters that the workers reported, and remove the report."""
    from jobs.indexing import REPORT

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


def _show(url: str, manifest: Manifest, *, as_json: bool) -> None:
    result: dict[str, Any] = {
        "index": url,
        "digest": manifest.digest,
        "seconds": manifest.seconds,
        "counters": manifest.counters,
        "configuration": manifest.configuration,
    }
    rows = {**manifest.counters, "factory": manifest.configuration["factory"], "seconds": manifest.seconds}
    emit(result, as_json=as_json, table=lambda: two_columns(url, rows))
    say(f'Next: qpr search --index {shlex.quote(url)} "how do I pay my bill"')
