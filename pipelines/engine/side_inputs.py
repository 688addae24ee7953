"""Side inputs of a run in this process.

options of a run -> keep_no_side_inputs -> Beam's worker in this process, changed

For Beam 2.72, the oldest version that setup.py allows, to 2.77, the newest tested.
"""

from __future__ import annotations

from typing import Final

from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.portability.fn_api_runner import worker_handlers

from pipelines.engine.beam_patches import IN_PROCESS

_KEPT_MB: Final[int] = worker_handlers.STATE_CACHE_SIZE_MB


def keep_no_side_inputs(options: PipelineOptions) -> None:
    """Make the worker in this process keep no side inputs of bundles that have ended.

    Beam keeps up to 100 MB of them by the number of the bundle, so that no later bundle finds one: each reads its side
    inputs once and keeps them itself. To measure what it keeps, Beam visits every object inside, which was
    5 % of the CPU time of `qpr clusters` on a small log. No issue of Beam describes this.
    """
    in_process = options.view_as(StandardOptions).runner == IN_PROCESS
    worker_handlers.STATE_CACHE_SIZE_MB = 0 if in_process else _KEPT_MB
