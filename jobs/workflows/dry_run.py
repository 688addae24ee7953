"""Dry run of a dataset command: inputs, rows, output, engine and options; nothing is written.

sources, configuration, output -> plan -> show_plan
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import rich.console

from jobs.display.console import emit, say
from jobs.display.option_names import option_rows
from jobs.display.summary_tables import Sheet, flat, whole
from jobs.display.terminal_tables import drawn
from schemas.artifacts import storage
from schemas.artifacts.writer import refuse_taken
from schemas.quantities import counted

if TYPE_CHECKING:
    import pydantic
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.reading.sources import Source

SHOWN_INPUTS = 20


def plan(
    *,
    sources: Sequence[Source],
    configuration: pydantic.BaseModel,
    output: str,
    overwrite: bool,
    options: PipelineOptions,
) -> dict[str, Any]:
    """Return what a run would do, after the checks it would begin with.

    Raises:
        UsageError: the engine cannot be used.
        QprError: the output cannot be claimed, or an input not be read.
    """
    from pipelines.engine.runner import new_pipeline
    from pipelines.reading.estimate import estimate_rows

    replaces = refuse_taken(output, "dataset", overwrite=overwrite)
    storage.check_writable(output)
    asked_for = json.loads(json.dumps(options.get_all_options(drop_default=True), default=str))
    new_pipeline(options)
    estimates = estimate_rows(sources)
    inputs = [
        {
            "url": source.url,
            "bytes": source.bytes,
            "format": source.format,
            "compression": source.compression,
            "rows": estimate.rows,
            "rows_exact": estimate.exact,
        }
        for source, estimate in zip(sources, estimates, strict=True)
    ]
    return {
        "output": output,
        "replaces": replaces,
        "files": len(sources),
        "bytes": sum(source.bytes for source in sources),
        "rows": sum(estimate.rows for estimate in estimates),
        "rows_exact": all(estimate.exact for estimate in estimates),
        "configuration": configuration.model_dump(mode="json"),
        "beam_options": asked_for,
        "inputs": inputs,
    }


def show_plan(found: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a plan."""
    emit(found, as_json=as_json, table=lambda: rich.console.Group(*map(drawn, plan_sheets(found))))
    say("Nothing was written. Leave out --dry-run to do it")


def plan_sheets(found: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of a plan: the inputs, the run and its options."""
    hidden = found["files"] - SHOWN_INPUTS
    files = [_input_row(one) for one in found["inputs"][:SHOWN_INPUTS]]
    files += [(f"and {whole(hidden)} more", "", "", "")] if hidden > 0 else []
    files.append(_input_row({**found, "url": counted(found["files"], "file"), "format": "", "compression": None}))
    fate = "exists and is replaced when the run ends" if found["replaces"] else "is made"
    options = [("--output", found["output"]), ("", fate), *option_rows(found["configuration"])]
    options += [(f"-- {name}", told) for name, told in flat(found["beam_options"])]
    return [Sheet(("Inputs", "format", "bytes", "rows"), files, named=2), Sheet(("Run", "value"), options, named=2)]


def _input_row(found: Mapping[str, Any]) -> tuple[str, str, str, str]:
    rows = ("" if found["rows_exact"] else "about ") + whole(found["rows"])
    kind = " ".join(filter(None, (found["format"], found["compression"])))
    return found["url"], kind, whole(found["bytes"]), rows
