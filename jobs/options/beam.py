"""Options of Apache Beam after ``--``.

typer context -> beam_options -> Beam's options
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from jobs.display.console import say

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions


def beam_options(context: typer.Context) -> PipelineOptions:
    """Return Beam's options from what stood after ``--``; a wrong one ends the command with exit code 2."""
    from pipelines.engine.runner import parse_options

    return parse_options(context.obj or [], note=say)
