"""`qpr simulate`: question-answering logs with the truth in a column, for anyone without logs.

options -> Simulation -> one log file
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from jobs.display.console import emit, progress_bar, say, two_columns
from jobs.options.output import AsJson, Overwrite, file_to_write
from pipelines.simulation.settings import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


def simulate(
    output: Annotated[str, file_to_write("Log to write: .jsonl, .csv, .tsv (also .gz, .zst) or .parquet.")],
    settings: Simulation,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Generate a log with the true cluster of each question.

    The column gold_cluster contains the id of the fact that a question asks about; with --from-dataset that of the
    cluster, in JSON as a string. As in real logs, questions are reworded, misheard and cut off, and some answers are
    generic.

    Example:
      qpr simulate --output logs.parquet --events 50000 --noise truncated=0.1
    """
    from pipelines.simulation.generator import JSON_LOG, LOG, simulate_log
    from schemas.artifacts.row_files import format_of, write_rows

    facts: set[int] = set()
    is_json = format_of(output)[0] == ".jsonl"
    schema = JSON_LOG if settings.from_dataset and is_json else LOG

    def watched() -> Iterator[pa.Table]:
        task = bar.add_task("simulate", total=settings.events)
        for table in simulate_log(settings):
            yield table.cast(schema)
            facts.update(table["gold_cluster"].unique().to_pylist())
            bar.advance(task, len(table))

    with progress_bar() as bar:
        rows = write_rows(watched(), output, schema=schema, overwrite=overwrite)
    result = {"output": output, "seed": settings.seed, "events": rows, "facts": len(facts)}
    say(f"Next: qpr clusters {shlex.quote(output)} --output dataset")
    emit(result, as_json=as_json, table=lambda: two_columns("Simulated log", result))
