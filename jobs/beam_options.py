"""What the commands that run on Apache Beam share: options after ``--``, a summary at the end.

typer context -> beam_flags; manifest -> show_manifest
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import typer

from jobs.console import emit, say, two_columns
from schemas import storage

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from schemas.manifest import Manifest


def beam_options(context: typer.Context) -> PipelineOptions:
    """Return Beam's options from what stood after ``--``; a wrong one ends the command with exit code 2."""
    from pipelines.runner import parse_options

    return parse_options(context.obj or [], say=say)


def show_dataset(url: str, manifest: Manifest, *, as_json: bool) -> None:
    """Print what a run wrote: the counters of its manifest, where the files are and what to do next."""
    result: dict[str, Any] = {
        "dataset": url,
        "run_id": manifest.run_id,
        "digest": manifest.digest,
        "seconds": manifest.seconds,
        "counters": manifest.counters,
    }
    emit(result, as_json=as_json, table=lambda: two_columns(f"{url} ({manifest.seconds:.1f} s)", manifest.counters))
    say(f"Files: {storage.join(url, manifest.run_id)}; what is in them: {storage.join(url, 'manifest.json')}")
    typed = shlex.quote(url)
    say(f"Next: qpr sample --dataset {typed}; qpr train --dataset {typed} --output MODEL")
