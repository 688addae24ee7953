"""Dry runs: checks and estimates of a command; nothing is written.

sources, configuration, output -> dataset_dry_run -> dataset_tables -> show_dry_run
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.display.console import emit, say
from jobs.display.option_names import flat, option_rows
from jobs.display.summary_tables import SummaryTable, whole
from schemas.artifacts import storage
from schemas.artifacts.writer import refuse_taken
from schemas.errors import QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    import pydantic
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.reading.sources import Source
    from schemas.artifacts.manifest import Kind

SHOWN_INPUTS = 20
"""Input files that the table lists; --json has all of them."""


def check_output(output: str, kind: Kind, *, overwrite: bool) -> bool:
    """Return whether a command would replace an artefact at ``output``.

    Args:
        output: folder of the artefact.
        kind: of the artefact, such as ``dataset``.
        overwrite: the command may replace it.

    Raises:
        QprError: the command could not claim the output.
    """
    replaces = refuse_taken(output, kind, overwrite=overwrite)
    check_writable(output)
    return replaces


def check_writable(url: str) -> None:
    """Check, without a write, that a local path could be made; a remote store reports it only at a write.

    Raises:
        QprError: its existing parent folder may not be written to.
    """
    if (path := storage.local_path(url)) is not None:
        folder = next(parent for parent in (Path(path), *Path(path).parents) if parent.exists())
        if not os.access(folder, os.W_OK | os.X_OK):
            raise QprError(f"{folder}: permission denied")


def show_dry_run(result: Mapping[str, Any], *, as_json: bool, table: Callable[[], Any]) -> None:
    """Print the result of a dry run: as JSON, or as the renderable that ``table`` returns."""
    emit(result, as_json=as_json, table=table)
    say("Nothing was written. Leave out --dry-run to do it")


def dataset_dry_run(
    *,
    sources: Sequence[Source],
    configuration: pydantic.BaseModel,
    output: str,
    overwrite: bool,
    options: PipelineOptions,
) -> dict[str, Any]:
    """Return inputs, estimated rows and options of a run, after the checks it would begin with.

    Raises:
        UsageError: the engine cannot be used.
        QprError: the output cannot be claimed, or an input not be read.
    """
    from pipelines.engine.runner import new_pipeline
    from pipelines.reading.estimate import estimate_rows

    replaces = check_output(output, "dataset", overwrite=overwrite)
    beam_options = json.loads(json.dumps(options.get_all_options(drop_default=True), default=str))
    new_pipeline(options)
    inputs = [
        {
            "url": source.url,
            "bytes": source.bytes,
            "format": source.format,
            "compression": source.compression,
            "rows": estimate.rows,
            "rows_exact": estimate.exact,
        }
        for source, estimate in zip(sources, estimate_rows(sources), strict=True)
    ]
    return {
        "output": output,
        "replaces": replaces,
        "files": len(inputs),
        "bytes": sum(file["bytes"] for file in inputs),
        "rows": sum(file["rows"] for file in inputs),
        "rows_exact": all(file["rows_exact"] for file in inputs),
        "configuration": configuration.model_dump(mode="json"),
        "beam_options": beam_options,
        "inputs": inputs,
    }


def dataset_tables(result: Mapping[str, Any]) -> list[SummaryTable]:
    """Return the tables of a dry run: the inputs, and the run with its options."""
    hidden = result["files"] - SHOWN_INPUTS
    files = [_input_row(file) for file in result["inputs"][:SHOWN_INPUTS]]
    files += [(f"and {whole(hidden)} more", "", "", "")] if hidden > 0 else []
    files.append(_input_row({**result, "url": counted(result["files"], "file"), "format": "", "compression": None}))
    fate = "exists and is replaced when the run ends" if result["replaces"] else "is made"
    options = [("--output", result["output"]), ("", fate), *option_rows(result["configuration"])]
    options += [(f"-- {name}", value) for name, value in flat(result["beam_options"])]
    return [
        SummaryTable(("Inputs", "format", "bytes", "rows"), files, named=2),
        SummaryTable(("Run", "value"), options, named=2),
    ]


def _input_row(file: Mapping[str, Any]) -> tuple[str, str, str, str]:
    rows = ("" if file["rows_exact"] else "about ") + whole(file["rows"])
    return file["url"], " ".join(filter(None, (file["format"], file["compression"]))), whole(file["bytes"]), rows
