"""Plan and dry run of `qpr index`: the size of its inputs, and the cost of an index of them.

question files, model -> size_of -> Size -> planned -> Plan; show_plan prints it and writes nothing
"""

from __future__ import annotations

import time
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from jobs.display.console import two_columns
from jobs.workflows.confidence import MOST_QUERIES
from jobs.workflows.dry_run import check_output, show_dry_run
from jobs.workflows.sizing.indexed_model import IndexedModel
from model.confidence.fitting import LEAST_QUERIES
from model.encoders.loading import load_encoder
from model.index.factory import check_questions, lists_of
from model.index.sizing.machine_speed import product_time
from model.index.sizing.planning import Plan, Size, planned
from pipelines.graphs.settings import IndexConfig
from pipelines.reading.estimate import estimate_rows
from pipelines.reading.index_inputs import DatasetFile, QuestionInputs, TableFile
from pipelines.reading.index_questions import read_questions
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError
from schemas.text_arrays import answer_keys

_SAMPLED_FILES: Final = 4
"""Files whose first rows show the bytes of a question."""

_TIMED: Final = 8_192
"""Questions that are encoded to time it; for transformers this takes seconds, so a sixteenth of them comes first."""

_SLOW_S: Final = 0.5
"""CPU seconds of that sixteenth beyond which the others are not encoded: three times all of them would take 24 s."""


def plan_of(inputs: QuestionInputs, model: IndexedModel, settings: IndexConfig, *, timed: bool) -> tuple[Size, Plan]:
    """Return the size of the inputs and the plan of their index; the first rows of some files are read.

    Args:
        inputs: where the questions are.
        model: that encodes them.
        settings: of the index.
        timed: encode these rows, without which the plan's time does not count encoding.

    Raises:
        QprError: there is no question, an input or the model cannot be read, or no plan is within the memory.
        UsageError: `--factory` cannot be built.
    """
    size = size_of(inputs, model, bm25=settings.bm25, timed=timed)
    plan = planned(
        size,
        factory=settings.factory,
        shards=settings.shards,
        more_shards="shards" not in settings.model_fields_set,
        memory_mb=settings.memory_mb,
    )
    check_questions(plan.factory, size.questions)
    return size, plan


def size_of(inputs: QuestionInputs, model: IndexedModel, *, bm25: bool, timed: bool) -> Size:
    """Return the size of the inputs: rows from manifests and footers, or estimated; bytes and time of a sample.

    Raises:
        QprError: there is no question, or an input or the model cannot be read.
    """
    tables = [file.source for file in inputs.files if isinstance(file, TableFile)]
    rows = sum(file.file.rows for file in inputs.files if isinstance(file, DatasetFile))
    rows += sum(estimate.rows for estimate in estimate_rows(tables))
    batches = (next(iter(read_questions(file)), None) for file in inputs.files[:_SAMPLED_FILES])
    sampled = [batch.rows for batch in batches if batch is not None and len(batch.rows)]
    if not rows or not sampled:
        where = ", ".join(source.url for source in inputs.sources)
        raise QprError(f"{where}: no question with a word to index. Check --questions")
    table = pa.concat_tables(sampled)
    lengths = [pc.sum(pc.binary_length(table[name])).as_py() or 0 for name in ("text", "answer", "answer_id")]
    return Size(
        questions=rows,
        dimension=model.dimension,
        text_bytes=sum(lengths) / len(table),
        model_bytes=0 if model.manifest is None else sum(file.bytes for file in model.manifest.files),
        encode_us=_encode_us(model.url, table["text"]) if timed else 0.0,
        bm25=bm25,
        product_time=product_time() if timed else 1.0,
        queries=_queries_of_confidence(inputs, table, rows),
    )


def _queries_of_confidence(inputs: QuestionInputs, sampled: pa.Table, rows: int) -> int:
    """Return the predicted number of queries that the confidence model learns from.

    They are the questions of validation clusters, or else the wordings of answers that have several. A sample shows too
    few of these where the rows of an answer are far apart.
    """
    datasets = {file.url for file in inputs.files if isinstance(file, DatasetFile)}
    if datasets:
        queries = sum(read_manifest(url, "dataset").counters.get("members_validation", 0) for url in datasets)
    else:
        of_answers = pc.value_counts(answer_keys(sampled["answer_id"], sampled["answer"]).drop_null())
        sizes = of_answers.field("counts").to_numpy()
        queries = rows * int(sizes[sizes > 1].sum()) // len(sampled)
    return min(queries, MOST_QUERIES) if queries >= LEAST_QUERIES else 0


def show_plan(
    output: str, inputs: QuestionInputs, model: IndexedModel, settings: IndexConfig, *, overwrite: bool, as_json: bool
) -> None:
    """Print the plan of an index and write nothing.

    Raises:
        QprError: the output cannot be claimed, or there is no plan.
    """
    replaces = check_output(output, "index", overwrite=overwrite)
    size, plan = plan_of(inputs, model, settings, timed=True)
    result: dict[str, Any] = {
        "output": output,
        "replaces": replaces,
        "questions": size.questions,
        "dimension": size.dimension,
        "factory": plan.factory,
        "lists": lists_of(plan.factory),
        "shards": plan.shards,
        "build_mb": round(plan.build_mb),
        "search_mb": round(plan.search_mb),
        "disk_mb": round(plan.disk_mb),
        "cpu_minutes": round(plan.cpu_minutes, 2),
    }
    show_dry_run(result, as_json=as_json, table=lambda: two_columns("dry run", result))


def _encode_us(url: str, texts: pa.ChunkedArray) -> float:
    """Return the CPU microseconds to encode a question of a batch."""
    encoder = load_encoder(url)
    encoder.encode(texts.slice(0, 16))  # compiles and loads
    few = texts.slice(0, _TIMED // 16)
    seconds = _cpu_seconds(lambda: encoder.encode(few))
    if seconds > _SLOW_S:
        return 1e6 * seconds / len(few)
    many = texts.slice(0, _TIMED)
    fastest = min(_cpu_seconds(lambda: encoder.encode(many)) for _ in range(3))  # other work slows some of them
    return 1e6 * fastest / len(many)


def _cpu_seconds(call: Any) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started
